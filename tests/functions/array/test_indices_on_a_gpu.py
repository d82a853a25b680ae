"""Indices that lie on a GPU pick there, and are not looked at."""

import shutil

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the kernels for the host")
X = np.random.default_rng(0).normal(size=(4, 5)).astype("float32")
T = np.array([4, 0, 2, 2])


CASES = {
    "get_item": lambda x, t: F.get_item(x, (slice(None), t)),
    "get_item, two": lambda x, t: F.get_item(x, (t % 4, t)),
    "scatter_add": lambda x, t: F.scatter_add(x, (t % 4,), x * 2),
    "select_item": F.select_item,
    "permutate": lambda x, t: F.permutate(x, _order(t)),
    "permutate back": lambda x, t: F.permutate(x, _order(t), inv=True),
    "embed_id": lambda x, t: F.embed_id(t % 4, x),
    "embed_id, ignoring": lambda x, t: F.embed_id(t % 4, x, ignore_label=2),
}


def _order(t):
    """0 to 3 in another order, where t lies."""
    return t[[1, 2, 3, 0]] * 0 + (t * 0 + np.int64(1)).cumsum() % 4


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_the_processors_and_nothing_waits(gpu, name):
    x = Variable(X)
    wanted = CASES[name](x, T)
    F.sum(wanted * wanted).backward()
    there, t = Variable(gpu.cupy.asarray(X)), gpu.cupy.asarray(T)
    for _ in range(2):
        CASES[name](there, t)
    with gpu.no_sync(name):
        y = CASES[name](there, t)
        F.sum(y * y).backward()
    np.testing.assert_array_equal(y.array.get(), wanted.array)
    np.testing.assert_allclose(there.grad.get(), x.grad, rtol=1e-6)


def test_masks_of_a_device_pick_and_wait(gpu):
    x, mask = Variable(gpu.cupy.asarray(X)), gpu.cupy.asarray(X > 0)
    y = x[mask]
    F.sum(y * y).backward()
    np.testing.assert_array_equal(y.array.get(), X[X > 0])
    np.testing.assert_array_equal(x.grad.get(), np.where(X > 0, 2 * X, 0))


def test_what_names_nothing_is_nan(gpu):
    x = gpu.cupy.asarray(X)
    picked = F.select_item(x, gpu.cupy.asarray(np.array([0, 5, -1, 4]))).array.get()
    assert np.isnan(picked).tolist() == [False, True, True, False]
    rows = F.embed_id(gpu.cupy.asarray(np.array([0, 4, -1])), x).array.get()
    assert np.isnan(rows[:, 0]).tolist() == [False, True, True]


def test_what_can_be_seen_without_looking_is_refused(gpu):
    x = gpu.cupy.asarray(X)
    with pytest.raises(ShapeError):
        F.select_item(x, gpu.cupy.asarray(T[:3]))
    with pytest.raises(ShapeError):
        F.permutate(x, gpu.cupy.asarray(T[:3]))
    with pytest.raises(DtypeError):
        F.get_item(x, gpu.cupy.asarray(X))
    with pytest.raises(DtypeError, match="the indices are on a GPU"):
        F.get_item(X, gpu.cupy.asarray(T))


def test_accuracy_is_computed_there(gpu):
    y, t = X, np.array([1, 0, 3, 2])
    for ignore in (None, 2):
        wanted = F.accuracy(y, t, ignore).array
        with gpu.no_sync("accuracy"):
            got = F.accuracy(gpu.cupy.asarray(y), gpu.cupy.asarray(t), ignore).array
        assert got.get() == wanted
        assert got.dtype == wanted.dtype
