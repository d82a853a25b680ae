"""Scoring of label maps: numbers by hand, ways to split, and stored references."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvzoo.errors import ConfigError, DtypeError, ShapeError, ValueRangeError
from cvzoo.evaluations.label_maps import (
    SemanticSegmentationAccumulator,
    calc_semantic_segmentation_confusion,
    calc_semantic_segmentation_iou,
    eval_semantic_segmentation,
)

MAPS = hnp.arrays(np.int32, (2, 4, 5), elements=st.integers(0, 5))


def test_numbers_by_hand():
    gt = np.array([[0, 0, 0, 1], [1, -1, -1, 3]])
    pred = np.array([[0, 0, 1, 1], [2, 5, -7, 3]])  # on ignored pixels anything goes
    confusion = calc_semantic_segmentation_confusion([pred], [gt])
    assert confusion.tolist() == [[2, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    result = eval_semantic_segmentation([pred], [gt], n_class=5)
    nan = np.nan  # a class that is only predicted has an IoU of 0, one that is nowhere has none
    np.testing.assert_allclose(result["iou"], [2 / 3, 1 / 3, 0, 1, nan])
    np.testing.assert_allclose(result["class_accuracy"], [2 / 3, 1 / 2, nan, 1, nan])
    assert result["miou"] == pytest.approx(2 / 4)
    assert result["mean_class_accuracy"] == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert result["pixel_accuracy"] == pytest.approx(4 / 6)
    assert result["fwiou"] == pytest.approx(3 / 6 * 2 / 3 + 2 / 6 / 3 + 1 / 6)


def test_nothing_is_no_number():
    for maps in ([], [np.zeros((0, 3), int)], [np.full((2, 2), -1)]):
        result = eval_semantic_segmentation(maps, maps)
        assert all(np.isnan(result[key]) for key in ("miou", "pixel_accuracy", "mean_class_accuracy", "fwiou"))
        assert result["iou"].shape == (0,)


@given(MAPS, MAPS)
def test_each_pixel_is_counted_once(pred, gt):
    confusion = calc_semantic_segmentation_confusion(pred, gt)
    for i, row in enumerate(confusion):
        for j, n in enumerate(row):
            assert n == ((gt == i) & (pred == j)).sum()


def test_any_integers_do():
    rng = np.random.default_rng(0)
    gt, pred = rng.integers(0, 200, (2, 6, 7))
    expected = calc_semantic_segmentation_confusion([pred], [gt])
    for dtype in (np.uint8, np.int16, np.uint64):
        found = calc_semantic_segmentation_confusion([pred.astype(dtype)], [gt.astype(dtype)])
        np.testing.assert_array_equal(found, expected)


def test_any_split_gives_the_same_bits():
    rng = np.random.default_rng(1)
    gt, pred = rng.integers(-1, 4, (12, 5, 6)), rng.integers(0, 7, (12, 5, 6))
    pred[:6] %= 3  # so that the parts see different numbers of classes
    parts = [SemanticSegmentationAccumulator() for _ in range(3)]
    for part, index in zip(parts, np.array_split(rng.permutation(12), 3)):
        part.update(pred[index], gt[index])
    for other in parts[1:]:
        parts[0].merge(other)
    expected = eval_semantic_segmentation(pred, gt)
    for key, value in parts[0].compute().to_dict().items():
        np.testing.assert_array_equal(value, expected[key])
    with pytest.raises(ConfigError):
        parts[0].merge(SemanticSegmentationAccumulator(n_class=3))


@pytest.mark.parametrize(
    ("pred", "gt", "error", "words"),
    [
        (np.zeros((2, 3), int), np.zeros((2, 4), int), ShapeError, "image 1 differ in size"),
        (np.zeros((1, 2, 3), int), np.zeros((1, 2, 3), int), ShapeError, "pred_labels of image 1"),
        (np.zeros((2, 3)), np.zeros((2, 3), int), DtypeError, "pred_labels of image 1"),
        (np.zeros((2, 3), int), np.zeros((2, 3)), DtypeError, "gt_labels of image 1"),
        (np.full((2, 3), -1), np.zeros((2, 3), int), ValueRangeError, "image 1 gives a negative class"),
        (np.full((2, 3), 9), np.zeros((2, 3), int), ValueRangeError, "pred_labels of image 1 .* out of range"),
        (np.zeros((2, 3), int), np.full((2, 3), 255), ValueRangeError, "gt_labels of image 1 .* out of range"),
    ],
)
def test_what_makes_no_sense_is_named_with_its_photo(pred, gt, error, words):
    fine = np.zeros((2, 3), int)
    with pytest.raises(error, match=words):
        eval_semantic_segmentation([fine, pred], [fine, gt], n_class=9)


def test_implausible_classes_do_not_eat_the_memory():
    with pytest.raises(ValueRangeError, match="implausible"):
        eval_semantic_segmentation([np.full((2, 2), 10**6)], [np.zeros((2, 2), int)])


def test_unequal_numbers_of_photos_are_refused():
    with pytest.raises(ShapeError, match="gt_labels ended after 0"):
        eval_semantic_segmentation([np.zeros((2, 2), int)], [])


@pytest.mark.parametrize("shape", [(2, 4), (3, 2), (2,)])
def test_a_confusion_matrix_has_a_column_a_class_and_one_more_at_most(shape):
    with pytest.raises(ShapeError):
        calc_semantic_segmentation_iou(np.zeros(shape, int))


def test_a_last_column_holds_pixels_predicted_as_none_of_the_classes():
    confusion = np.array([[2, 0, 2], [1, 3, 0]])
    assert calc_semantic_segmentation_iou(confusion).tolist() == [2 / 5, 3 / 4]


@pytest.mark.parametrize("name", ["semseg", "semseg_19", "semseg_full"])
def test_stored_references_are_met(shared, name):
    folder = shared / "eval_cases" / "open"
    case, expected = np.load(folder / f"{name}.npz"), np.load(folder / f"{name}.expected.npz")
    accumulator = SemanticSegmentationAccumulator(n_class=int(case["n_class"]))
    for n in range(int(case["n_img"])):
        accumulator.update([case[f"pred_{n}"]], [case[f"gt_{n}"]])
    result = accumulator.compute()
    found = result.to_dict() | {"confusion": result.confusion}
    assert set(found) == set(expected.files)
    for key, value in found.items():
        np.testing.assert_allclose(value, expected[key], rtol=0, atol=1e-12)
