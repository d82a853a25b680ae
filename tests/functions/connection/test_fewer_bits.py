"""Convolutions and linear layers of bytes and of bfloat16 as functions: sizes, bytes handed on, what does not fit."""

import numpy as np
import pytest

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.connection.byte_variable import ByteVariable, Counting, as_bytes
from cvzoo.functions.connection.convolution_2d import fused_convolution_2d
from cvzoo.functions.connection.fewer_bits import bf16_convolution_2d, int8_convolution_2d, int8_linear

COUNTING = Counting(0.5, False)


def whole(*shape, low=0, high=20):
    return np.random.default_rng(0).integers(low, high, shape).astype(np.float32)


def test_whole_numbers_go_through_bytes_unharmed():
    x, W, b = whole(2, 8, 6, 7), whole(4, 8, 3, 3, low=-9, high=9), whole(4)
    scale = np.full(4, 0.5, np.float32)  # of x; the filters count in ones
    window = {"stride": 2, "pad": [1, 0], "add": whole(2, 4, 3, 3), "activation": "relu"}
    y = int8_convolution_2d(x, W.astype(np.int8), scale, b, counting=COUNTING, **window)
    with no_backprop_mode():
        expected = fused_convolution_2d(x, W, b, **window)
    np.testing.assert_array_equal(y.array, expected.array)
    rows = int8_linear(x, W[:, :, 0, 0].repeat(42, 1).astype(np.int8), scale, b, counting=COUNTING)
    np.testing.assert_array_equal(rows.array, x.reshape(2, -1) @ W[:, :, 0, 0].repeat(42, 1).T + b)
    rows = int8_linear(x, W[:, 0, 0, :1].repeat(7, 1).astype(np.int8), scale, None, 3, counting=COUNTING)
    np.testing.assert_array_equal(rows.array, x @ W[:, 0, 0, :1].repeat(7, 1).T)
    assert rows.shape == (2, 8, 6, 4)
    assert not rows.requires_grad


def test_bytes_are_handed_on_and_read_as_numbers():
    x, W = whole(1, 2, 4, 4), np.eye(2, dtype=np.int8)[:, :, None, None]
    how = {"counting": COUNTING, "out_counting": COUNTING}
    y = int8_convolution_2d(x, W, np.full(2, 0.5, np.float32), **how)
    assert isinstance(y, ByteVariable)
    assert as_bytes(y, COUNTING).dtype == np.uint8
    other = as_bytes(y, Counting(1.0, True))
    assert other.dtype == np.int8
    np.testing.assert_array_equal(other.array, x)
    np.testing.assert_array_equal(y.array, x)
    assert not y.requires_grad
    y.array = 2 * x
    np.testing.assert_array_equal(as_bytes(y, Counting(1.0, False)).array, 2 * x)
    assert y.size == 32


def test_16_bits_are_handed_on_and_read_as_numbers():
    x, W = whole(1, 2, 4, 4), np.eye(2, dtype=np.float32)[:, :, None, None]
    y = bf16_convolution_2d(x, W, gives_bits=True)
    assert isinstance(y, ByteVariable)
    assert y.held()[0].dtype == np.uint16
    twice = bf16_convolution_2d(y, W, add=y)
    assert y.held() is not None  # nobody had to read them
    np.testing.assert_array_equal(twice.array, 2 * x)
    as_byte = int8_convolution_2d(y, W.astype(np.int8), np.full(2, 0.5, np.float32), counting=COUNTING, add=y)
    np.testing.assert_array_equal(as_byte.array, 2 * x)
    np.testing.assert_array_equal(y.array, x)
    assert y.held() is None
    np.testing.assert_array_equal(bf16_convolution_2d(y, W).array, x)


def test_what_does_not_fit_is_refused():
    x, W, scale = whole(1, 3, 4, 4), np.ones((2, 4, 3, 3), np.int8), np.ones(2, np.float32)
    with pytest.raises(ShapeError, match="x and W do not fit"):
        int8_convolution_2d(Variable(x), W, scale, counting=COUNTING)
    with pytest.raises(ShapeError, match="x and W do not fit"):
        bf16_convolution_2d(Variable(x), W.astype(np.float32))
    W = np.ones((2, 3, 3, 3), np.int8)
    for add in (whole(1, 2, 2, 1), whole(2, 2, 2, 2), whole(2, 2, 2)):
        with pytest.raises(ShapeError, match="addend has the wrong shape"):
            int8_convolution_2d(Variable(x), W, scale, counting=COUNTING, add=add)
        with pytest.raises(ShapeError, match="addend has the wrong shape"):
            bf16_convolution_2d(Variable(x), W.astype(np.float32), add=add)
    with pytest.raises(ShapeError, match="x and W do not fit"):
        int8_linear(x, W[:, :, 0, 0], scale, counting=COUNTING)
