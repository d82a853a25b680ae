"""Means over as many places as are wanted, against plain loops, and their derivatives."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.pooling.adaptive_average_pooling_2d import adaptive_average_pooling_2d

# the map's size, what is wanted
CASES = [
    ((6, 6), 3),  # windows touch
    ((7, 5), 3),  # windows overlap
    ((2, 2), 7),  # more places than pixels
    ((13, 3), (6, 6)),
    ((4, 9), (1, 1)),
    ((3, 3), 3),
    ((1, 1), 7),
]


def loops(x, oh, ow):
    h, w = x.shape[2:]
    y = np.zeros((*x.shape[:2], oh, ow), x.dtype)
    for i in range(oh):
        for j in range(ow):
            rows = slice(i * h // oh, -(-(i + 1) * h // oh))
            columns = slice(j * w // ow, -(-(j + 1) * w // ow))
            y[:, :, i, j] = x[:, :, rows, columns].mean(axis=(2, 3))
    return y


@pytest.mark.parametrize(("size", "out"), CASES)
@pytest.mark.parametrize("channels_last", [False, True])
def test_each_place_is_the_mean_of_its_window(size, out, channels_last):
    x = np.random.default_rng(0).standard_normal((2, 5, *size), "float32")
    if channels_last:
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    y = adaptive_average_pooling_2d(x, out)
    assert y.dtype == np.float32
    oh, ow = (out, out) if isinstance(out, int) else out
    np.testing.assert_allclose(y.array, loops(x, oh, ow), atol=1e-6)


@pytest.mark.parametrize(("size", "out"), CASES)
def test_its_derivatives_are_right(size, out):
    x = np.random.default_rng(1).standard_normal((2, 2, *size))
    check_backward(lambda each: adaptive_average_pooling_2d(each, out), x)
    check_double_backward(lambda each: adaptive_average_pooling_2d(each, out) ** 2, x)


def test_bad_input_is_refused():
    x = np.zeros((1, 2, 3, 4), np.float32)
    for out in (0, (2, -1)):
        with pytest.raises(ValueRangeError, match="outsize"):
            adaptive_average_pooling_2d(x, out)
    with pytest.raises(ShapeError, match="4-D"):
        adaptive_average_pooling_2d(x[0], 2)
