"""Softmax cross entropy."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.loss.softmax_cross_entropy import softmax_cross_entropy

random = np.random.default_rng(0)
CASES = {  # shape of x
    "rows": (5, 4),
    "label maps": (2, 4, 3, 2),
    "sequences": (2, 4, 3),
    "one row": (1, 4),
    "one class": (3, 1),
}
SETTINGS = {
    "mean": {},
    "sum": {"reduce": "sum"},
    "each": {"reduce": "no"},
    "divided by the batch": {"normalize": False},
    "class weights": {"class_weight": np.array([1.0, 2.0, 0.0, 0.5])},
    "another ignore label": {"ignore_label": 2},
}


def _naive(x, t, class_weight=None, ignore_label=-1, reduce="mean", normalize=True):
    p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    loss = np.zeros(t.shape)
    for index in np.ndindex(t.shape):
        c = t[index]
        if c != ignore_label:
            loss[index] = -np.log(p[(index[0], c, *index[1:])]) * (1 if class_weight is None else class_weight[c])
    if reduce == "no":
        return loss
    return loss.sum() / (1 if reduce == "sum" else max((t != ignore_label).sum(), 1) if normalize else len(x))


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("shape", CASES.values(), ids=CASES)
def test_loss_and_derivatives(shape, settings, backend):
    if "class_weight" in settings and shape[1] != 4:
        pytest.skip("the weights are for 4 classes")
    x = random.normal(size=shape)
    t = random.integers(0 if settings.get("ignore_label") else -1, shape[1], size=shape[:1] + shape[2:])
    wanted = _naive(x, t, **settings)
    for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-5)):
        y = softmax_cross_entropy(x.astype(dtype), t.astype("int32"), **settings)
        np.testing.assert_allclose(y.array, wanted, rtol=tolerance, atol=tolerance)
        assert y.dtype == dtype
    check_backward(lambda x: softmax_cross_entropy(x, t, **settings), x)
    check_double_backward(lambda x: softmax_cross_entropy(x, t, **settings), x)


def test_large_scores_neither_overflow_nor_vanish(backend):
    x = Variable(np.array([[1e4, -1e4], [1e4, -1e4]], "f"))
    loss = softmax_cross_entropy(x, np.array([0, 1]), reduce="no")
    np.testing.assert_allclose(loss.array, [0, 2e4])
    loss.grad = np.ones(2, "f")
    loss.backward()
    np.testing.assert_allclose(x.grad, [[0, 0], [1, -1]], atol=1e-6)


def test_nothing_to_learn_from_gives_zero(backend):
    for x, t in ((np.ones((2, 3), "f"), np.array([-1, -1])), (np.ones((0, 3), "f"), np.zeros(0, int))):
        v = Variable(x)
        loss = softmax_cross_entropy(v, t)
        assert loss.array == 0
        loss.backward()
        np.testing.assert_array_equal(v.grad, np.zeros_like(x))


def test_scores_are_ignored_where_the_label_is(backend):
    x = Variable(np.array([[np.nan, np.inf], [0, 0]], "f"))
    loss = softmax_cross_entropy(x, np.array([-1, 0]))
    np.testing.assert_allclose(loss.array, np.log(2), rtol=1e-6)
    loss.backward()
    np.testing.assert_allclose(x.grad, [[0, 0], [-0.5, 0.5]], rtol=1e-6)


def test_bad_calls_teach():
    x = np.zeros((2, 3, 4), "f")
    t = np.zeros((2, 4), int)
    t[1, 2] = 7
    with pytest.raises(ValueRangeError, match=r"7 at index \(1, 2\)"):
        softmax_cross_entropy(x, t)
    with pytest.raises(ValueRangeError, match="-2 at index 1"):
        softmax_cross_entropy(x[:, :, 0], np.array([0, -2]))
    with pytest.raises(ShapeError, match="one label where x has C scores"):
        softmax_cross_entropy(x, t[:1])
    with pytest.raises(ShapeError, match="argmax"):  # one-hot integers
        softmax_cross_entropy(x, x.astype(int))
    with pytest.raises(DtypeError, match="int32"):
        softmax_cross_entropy(x, t.astype("f"))
    with pytest.raises(ShapeError, match="class_weight"):
        softmax_cross_entropy(x, t * 0, class_weight=np.ones(4))
    with pytest.raises(ValueRangeError, match="reduce"):
        softmax_cross_entropy(x, t * 0, reduce="median")


@pytest.mark.parametrize("shape", [(5, 4), (2, 4, 3, 2)])
@pytest.mark.parametrize("reduce", ["mean", "sum", "no"])
def test_soft_labels_weigh_the_losses_of_all_classes(shape, reduce):
    x = random.normal(size=shape)
    t = random.dirichlet(np.ones(shape[1]), (shape[0], *shape[2:]))
    t = np.moveaxis(t, -1, 1)
    each = np.stack([_naive(x, np.full_like(t[:, 0], c, dtype=int), reduce="no") for c in range(shape[1])], axis=1)
    expected = {"no": (each * t).sum(1), "sum": (each * t).sum(), "mean": (each * t).sum(1).mean()}[reduce]
    np.testing.assert_allclose(softmax_cross_entropy(x, t, reduce=reduce).array, expected, rtol=1e-6)
    gy = random.normal(size=np.shape(expected))
    check_backward(lambda x: softmax_cross_entropy(x, t, reduce=reduce), (x,), gy)


def test_soft_labels_of_one_class_are_that_label():
    x, t = random.normal(size=(6, 3)).astype("float32"), random.integers(0, 3, 6)
    hard, soft = softmax_cross_entropy(x, t), softmax_cross_entropy(x, np.eye(3, dtype="float32")[t])
    np.testing.assert_allclose(hard.array, soft.array, rtol=1e-6)


def test_soft_labels_have_no_class_weight():
    with pytest.raises(ValueRangeError, match="class_weight"):
        softmax_cross_entropy(np.zeros((2, 3)), np.full((2, 3), 1 / 3), class_weight=np.ones(3))
