"""Losses of pairs and triplets of embeddings, of margins, and differences element by element."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError

ANCHOR = np.float32([[-2.0, 3.0, 0.5], [5.0, 2.0, -0.5]])
POSITIVE = np.float32([[-2.1, 2.8, 0.5], [4.9, 2.0, -0.4]])
NEGATIVE = np.float32([[-2.1, 2.7, 0.7], [4.9, 2.0, -0.7]])
SCORES = np.float32([[2.0, -0.5, 0.25], [-1.0, 3.0, -2.0]])
CLASSES = np.array([0, 2])


@pytest.mark.parametrize(
    ("margin", "reduce", "wanted"), [(0.2, "mean", 0.14), (0.2, "no", [0.11, 0.17]), (0.5, "sum", 0.88)]
)
def test_triplet_gives_the_numbers_of_chainers_documentation(margin, reduce, wanted):
    loss = F.triplet(ANCHOR, POSITIVE, NEGATIVE, margin, reduce)
    np.testing.assert_allclose(loss.array, wanted, rtol=1e-5)


def test_contrastive_pulls_similar_pairs_and_pushes_others_up_to_the_margin():
    x0 = np.zeros((3, 2))
    x1 = np.array([[3.0, 4.0], [0.3, 0.4], [3.0, 4.0]])
    y = np.array([1, 0, 0])
    np.testing.assert_allclose(F.contrastive(x0, x1, y, reduce="no").array, [12.5, 0.125, 0])
    np.testing.assert_allclose(F.contrastive(x0, x1, y, margin=6).array, (12.5 + 5.5**2 / 2 + 0.5) / 3)


def test_equal_embeddings_have_gradient_zero():
    x = F.copy(np.ones((1, 3)))
    x.requires_grad = True
    x.unchain()
    F.contrastive(x, np.ones((1, 3)), np.array([0])).backward()
    assert x.grad.tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(
    ("norm", "wanted"), [("L1", [[0, 0.5, 1.25], [0, 4, 3]]), ("L2", [[0, 0.25, 1.5625], [0, 16, 9]])]
)
def test_hinge_counts_what_lies_within_the_margin(norm, wanted):
    np.testing.assert_allclose(F.hinge(SCORES, CLASSES, norm, "no").array, wanted)
    np.testing.assert_allclose(F.hinge(SCORES, CLASSES, norm).array, np.sum(wanted) / 2)


def test_errors_element_by_element():
    np.testing.assert_allclose(F.squared_error(ANCHOR, POSITIVE).array, (ANCHOR - POSITIVE) ** 2)
    np.testing.assert_allclose(F.absolute_error(ANCHOR, POSITIVE).array, np.abs(ANCHOR - POSITIVE))


BAD = {
    "a margin of zero": (lambda: F.triplet(ANCHOR, POSITIVE, NEGATIVE, 0), ValueRangeError, "margin must be positive"),
    "embeddings of other shapes": (
        lambda: F.triplet(ANCHOR, POSITIVE, NEGATIVE[:1]),
        ShapeError,
        "anchor and negative must have one shape",
    ),
    "triplets of vectors": (lambda: F.triplet(ANCHOR[0], POSITIVE[0], NEGATIVE[0]), ShapeError, "embeddings must be"),
    "a pair too few": (lambda: F.contrastive(ANCHOR, POSITIVE, CLASSES[:1]), ShapeError, "one number for each pair"),
    "a label that is no yes or no": (
        lambda: F.contrastive(ANCHOR, POSITIVE, CLASSES),
        ValueRangeError,
        "out of range\n  expected: 0 to 1\n",  # there is no label that is ignored
    ),
    "floating labels": (lambda: F.contrastive(ANCHOR, POSITIVE, np.ones(2)), DtypeError, "y must be of integers"),
    "an unknown norm": (lambda: F.hinge(SCORES, CLASSES, "L3"), ValueRangeError, "there is no norm 'L3'"),
    "an unknown class": (lambda: F.hinge(SCORES, CLASSES + 1), ValueRangeError, "out of range"),
    "floating classes": (lambda: F.hinge(SCORES, np.ones(2)), DtypeError, "t must be of integers"),
    "labels of other shape": (lambda: F.hinge(SCORES, CLASSES[:1]), ShapeError, "one label for each row"),
    "an unknown reduce": (lambda: F.hinge(SCORES, CLASSES, reduce="max"), ValueRangeError, "no reduce='max'"),
    "other shapes": (lambda: F.squared_error(SCORES, SCORES[:1]), ShapeError, "x0 and x1 must have one shape"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_calls_say_what_was_wrong(case):
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call()
