"""The same values in other shapes and orders."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, UnsupportedError, ValueRangeError

# function, what NumPy makes of x, shape of x
MOVES = {
    "reshape": (lambda x: F.reshape(x, (4, 6)), lambda x: x.reshape(4, 6), (2, 3, 4)),
    "reshape with a gap": (lambda x: F.reshape(x, (2, -1)), lambda x: x.reshape(2, -1), (2, 3, 4)),
    "reshape by a number": (lambda x: F.reshape(x, -1), np.ravel, (2, 3, 4)),
    "reshape of a single value": (lambda x: F.reshape(x, (1, 1)), lambda x: x.reshape(1, 1), ()),
    "transpose": (F.transpose, np.transpose, (2, 3, 4)),
    "transpose by axes": (lambda x: F.transpose(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1), (2, 3, 4)),
    "transpose from the end": (lambda x: F.transpose(x, (-1, 0, 1)), lambda x: x.transpose(2, 0, 1), (2, 3, 4)),
    "swapaxes": (lambda x: F.swapaxes(x, 0, -1), lambda x: x.swapaxes(0, -1), (2, 3, 4)),
    "moveaxis": (lambda x: F.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1), (2, 3, 4)),
    "moveaxis of two": (
        lambda x: F.moveaxis(x, (0, 1), (2, 0)),
        lambda x: np.moveaxis(x, (0, 1), (2, 0)),
        (2, 3, 4, 5),
    ),
    "rollaxis": (lambda x: F.rollaxis(x, 2), lambda x: np.rollaxis(x, 2), (2, 3, 4)),
    "rollaxis to the end": (lambda x: F.rollaxis(x, 0, 3), lambda x: np.rollaxis(x, 0, 3), (2, 3, 4)),
    "rollaxis to the middle": (lambda x: F.rollaxis(x, 0, -1), lambda x: np.rollaxis(x, 0, -1), (2, 3, 4)),
    "expand_dims": (lambda x: F.expand_dims(x, 1), lambda x: np.expand_dims(x, 1), (2, 3)),
    "expand_dims at the end": (lambda x: F.expand_dims(x, -1), lambda x: np.expand_dims(x, -1), (2, 3)),
    "squeeze": (F.squeeze, np.squeeze, (1, 3, 1)),
    "squeeze one axis": (lambda x: F.squeeze(x, -1), lambda x: np.squeeze(x, -1), (1, 3, 1)),
    "flatten": (F.flatten, np.ravel, (2, 3)),
    "flatten nothing": (F.flatten, np.ravel, (0, 3)),
    "flip": (F.flip, np.flip, (2, 3)),
    "flip an axis": (lambda x: F.flip(x, (0, -1)), lambda x: np.flip(x, (0, -1)), (2, 3, 2)),
    "flipud": (F.flipud, np.flipud, (2, 3)),
    "fliplr": (F.fliplr, np.fliplr, (2, 3)),
    "broadcast_to": (lambda x: F.broadcast_to(x, (2, 3, 4)), lambda x: np.broadcast_to(x, (2, 3, 4)), (3, 1)),
    "sum_to": (lambda x: F.sum_to(x, (3, 1)), lambda x: x.sum((0, 2)).reshape(3, 1), (2, 3, 4)),
    "sum_to channels": (lambda x: F.sum_to(x, (3, 1, 1)), lambda x: x.sum((0, 2, 3), keepdims=True)[0], (2, 3, 4, 2)),
    "tile": (lambda x: F.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3)), (2, 3)),
    "tile into a new axis": (lambda x: F.tile(x, (2, 1, 2)), lambda x: np.tile(x, (2, 1, 2)), (2, 3)),
    "tile the last axis": (lambda x: F.tile(x, 2), lambda x: np.tile(x, 2), (2, 3)),
    "tile to nothing": (lambda x: F.tile(x, (0, 1)), lambda x: np.tile(x, (0, 1)), (2, 3)),
    "repeat": (lambda x: F.repeat(x, 2, 1), lambda x: np.repeat(x, 2, 1), (2, 3)),
    "repeat flattened": (lambda x: F.repeat(x, 3), lambda x: np.repeat(x, 3), (2, 3)),
    "repeat each": (lambda x: F.repeat(x, [2, 0, 1], -1), lambda x: np.repeat(x, [2, 0, 1], -1), (2, 3)),
    "pad": (lambda x: F.pad(x, 1), lambda x: np.pad(x, 1), (2, 3)),
    "pad by a pair": (lambda x: F.pad(x, (1, 2)), lambda x: np.pad(x, (1, 2)), (2, 3, 1)),
    "pad by pairs": (
        lambda x: F.pad(x, ((0, 0), (0, 0), (1, 0), (2, 3)), constant_values=1.5),
        lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 3)), constant_values=1.5),
        (1, 2, 3, 3),
    ),
    "crop": (lambda x: F.crop(x, (2, 1), (1, 2)), lambda x: x[..., 1:3, 2:3], (1, 2, 3, 3)),
    "copy": (F.copy, np.copy, (2, 3)),
}


@pytest.mark.parametrize("name", MOVES)
def test_values_are_numpys_and_gradients_find_their_way_back(name, backend):
    function, formula, shape = MOVES[name]
    x = np.random.default_rng(0).normal(size=shape)
    for dtype in ("float32", "float64", "int32"):
        y = function(Variable((x * 10).astype(dtype)))
        assert y.dtype == dtype or (dtype == "int32" and name.startswith("sum"))
        assert_allclose(y, formula((x * 10).astype(dtype)), rtol=1e-6)
    strided = np.random.default_rng(0).normal(size=shape[::-1]).T
    assert_allclose(function(strided), formula(strided))
    check_backward(function, x)
    check_double_backward(lambda x: function(x) ** 2, x, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: F.reshape(x, (4, 2)), ShapeError, "6 values"),
        (lambda x: F.reshape(x, (-1, -1)), ShapeError, "reshape"),
        (lambda x: F.reshape([1, 2], (2,)), DtypeError, "list"),
        (lambda x: F.transpose(x, (0,)), ShapeError, "every axis"),
        (lambda x: F.transpose(x, (0, 0)), ShapeError, "twice"),
        (lambda x: F.transpose(x, (0, 2)), ShapeError, "no axis 2"),
        (lambda x: F.swapaxes(x, 0, 2), ShapeError, "no axis 2"),
        (lambda x: F.moveaxis(x, (0, 1), 0), ShapeError, "one destination"),
        (lambda x: F.rollaxis(x, -3), ShapeError, "no axis -3"),
        (lambda x: F.expand_dims(x, 3), ShapeError, "no axis 3"),
        (lambda x: F.squeeze(x, 0), ShapeError, "size 1"),
        (lambda x: F.flip(x, 2), ShapeError, "no axis"),
        (lambda x: F.broadcast_to(x, (2, 4)), ShapeError, r"\(2, 3\)"),
        (lambda x: F.broadcast_to(x, (3,)), ShapeError, r"\(2, 3\)"),
        (lambda x: F.sum_to(x, (2, 2)), ShapeError, "sum_to"),
        (lambda x: F.sum_to(x, (1, 2, 3)), ShapeError, "sum_to"),
        (lambda x: F.broadcast(x, np.zeros(2)), ShapeError, "broadcast"),
        (lambda x: F.tile(x, -1), ValueRangeError, "tile"),
        (lambda x: F.repeat(x, [1, 2], 1), ShapeError, "repeat"),
        (lambda x: F.repeat(x, -1, 1), ValueRangeError, "repeat"),
        (lambda x: F.pad(x, ((1, 1), (1, 1), (1, 1))), ShapeError, "pair"),
        (lambda x: F.pad(x, -1), ValueRangeError, "crop"),
        (lambda x: F.pad(x, 1, "reflect"), UnsupportedError, "reflect"),
        (lambda x: F.crop(x, (2, 2), (1, 0)), ShapeError, "beyond"),
        (lambda x: F.crop(x, (1, 1), (-1, 0)), ShapeError, "beyond"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(call, error, message):
    with pytest.raises(error, match=message):
        call(np.zeros((2, 3), "float32"))


def test_views_are_views():
    x = np.zeros((2, 3, 4), "float32")
    for y in (F.reshape(x, (6, 4)), F.transpose(x), F.flip(x, 0), F.broadcast_to(x, (5, 2, 3, 4)), F.expand_dims(x, 0)):
        assert np.shares_memory(y.array, x)
    assert not np.shares_memory(F.copy(x).array, x)


def test_broadcast_gives_all_the_same_shape():
    a, b, c = np.zeros((2, 1)), np.zeros(3), np.zeros(())
    assert [y.shape for y in F.broadcast(a, b, c)] == [(2, 3)] * 3
    check_backward(F.broadcast, (a + 1, b + 2, c + 3))


def test_cast_changes_the_dtype_and_casts_the_gradient_back():
    x = Variable(np.array([1.5, 2.5], "float32"))
    y = F.cast(x, "float64")
    assert y.dtype == "float64"
    F.sum(y * 2).backward()
    assert x.grad.dtype == "float32"
    assert x.grad.tolist() == [2, 2]
    assert F.cast(x, "float32") is x
    assert F.cast(x, "int32").array.tolist() == [1, 2]
    assert not F.cast(x, "int32").requires_grad


def test_padding_and_resizing_lie_channels_last(backend):
    x = np.zeros((2, 3, 4, 5), "float32")
    for y in (F.pad(x, 1), F.concat([x, x]), F.resize_images(x, (8, 8)), F.depth2space(x[:, :1].repeat(4, 1), 2)):
        assert y.array.transpose(0, 2, 3, 1).flags.c_contiguous


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=4).flatmap(
        lambda s: st.tuples(st.just(s), st.permutations(range(len(s))))
    )
)
def test_transposing_there_and_back_changes_nothing(case):
    shape, axes = case
    x = np.arange(np.prod(shape)).reshape(shape)
    y = F.transpose(F.transpose(x, axes), np.argsort(axes).tolist())
    assert np.array_equal(y.array, x)


def test_depth_becomes_space_and_depth_again():
    x = np.random.default_rng(0).normal(size=(2, 8, 3, 2))
    y = F.depth2space(x, 2)
    assert y.shape == (2, 2, 6, 4)
    for i in range(2):
        for j in range(2):
            assert_allclose(y.array[:, :, i::2, j::2], x[:, (i * 2 + j) * 2 : (i * 2 + j) * 2 + 2])
    assert_allclose(F.space2depth(y, 2), x)
    check_backward(lambda x: F.depth2space(x, 2), x)
    check_backward(lambda x: F.space2depth(x, 2), y.array)
    check_double_backward(lambda x: F.depth2space(x, 2) ** 2, x, rtol=1e-3, atol=1e-4)
    for function in (F.depth2space, F.space2depth):
        with pytest.raises(ShapeError, match="divide"):
            function(np.zeros((1, 3, 3, 3)), 2)
        with pytest.raises(ShapeError, match="B, C, H, W"):
            function(np.zeros((3, 3)), 2)
