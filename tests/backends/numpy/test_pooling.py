import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.backends.numpy.pooling import (
    average_pool_2d,
    average_pool_2d_grad,
    max_pool_2d,
    max_pool_2d_grad,
    max_pool_2d_indices,
)


def windows_by_loops(x, ksize, stride, pad):
    """For each place (i, j) of the window, the rows and columns of the photo it sees."""
    _, _, h, w = x.shape
    oh = (h + pad[0] + pad[1] - ksize[0]) // stride[0] + 1
    ow = (w + pad[2] + pad[3] - ksize[1]) // stride[1] + 1
    for i in range(oh):
        for j in range(ow):
            top, left = i * stride[0] - pad[0], j * stride[1] - pad[2]
            rows, columns = range(max(top, 0), min(top + ksize[0], h)), range(max(left, 0), min(left + ksize[1], w))
            yield i, j, rows, columns


@st.composite
def poolings(draw):
    integers = lambda low, high: draw(st.integers(low, high))  # noqa: E731
    ksize, stride = (integers(1, 3), integers(1, 3)), (integers(1, 3), integers(1, 3))
    pad = tuple(integers(0, ksize[k // 2] - 1) for k in range(4))
    size = [ksize[k] + integers(0, 5) for k in (0, 1)]
    rng = np.random.default_rng(integers(0, 1000))
    x = rng.integers(-3, 3, (2, 2, *size)).astype(float)  # few values: many maxima are equal
    return x, {"ksize": ksize, "stride": stride, "pad": pad}


@settings(max_examples=60, deadline=None)
@given(poolings())
def test_a_pooling_is_what_its_windows_say(case):
    x, geometry = case
    largest, kept = max_pool_2d(x, keep=True, **geometry)
    again, nothing = max_pool_2d(x, keep=False, **geometry)
    assert nothing is None
    np.testing.assert_array_equal(largest, again)
    where = max_pool_2d_indices(x, **geometry)
    mean = average_pool_2d(x, count_pad=False, **geometry)
    mean_with_pad = average_pool_2d(x, count_pad=True, **geometry)
    gy = np.random.default_rng(1).standard_normal(largest.shape)
    gx = np.zeros_like(x)
    for i, j, rows, columns in windows_by_loops(x, **geometry):
        seen = x[:, :, rows.start : rows.stop, columns.start : columns.stop]
        np.testing.assert_array_equal(largest[:, :, i, j], seen.max((2, 3)))
        np.testing.assert_allclose(mean[:, :, i, j], seen.mean((2, 3)))
        np.testing.assert_allclose(mean_with_pad[:, :, i, j], seen.sum((2, 3)) / np.prod(geometry["ksize"]))
        for b in range(2):
            for c in range(2):
                row, column = divmod(int(seen[b, c].argmax()), len(columns))
                row, column = rows[row], columns[column]
                assert where[b, c, i, j] == row * x.shape[3] + column
                gx[b, c, row, column] += gy[b, c, i, j]
    np.testing.assert_allclose(max_pool_2d_grad(gy, kept, x.shape, **geometry), gx, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(poolings(), st.booleans())
def test_the_mean_s_gradient_is_its_adjoint(case, count_pad):
    x, geometry = case
    y = average_pool_2d(x, count_pad=count_pad, **geometry)
    gy = np.random.default_rng(0).standard_normal(y.shape)
    gx = average_pool_2d_grad(gy, x.shape, count_pad=count_pad, **geometry)
    np.testing.assert_allclose(np.vdot(x, gx), np.vdot(y, gy), atol=1e-10)


def test_a_window_of_nothing_but_padding_gives_and_takes_nothing():
    x = np.ones((1, 1, 2, 2))
    geometry = {"ksize": (2, 2), "stride": (2, 2), "pad": (0, 2, 0, 0)}
    y, kept = max_pool_2d(x, keep=True, **geometry)
    assert y[0, 0, 1, 0] == -np.inf
    np.testing.assert_array_equal(max_pool_2d_grad(np.ones_like(y), kept, x.shape, **geometry), [[[[1, 0], [0, 0]]]])
    assert average_pool_2d(x, count_pad=False, **geometry)[0, 0, 1, 0] == 0


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16"])
def test_maxima_keep_the_dtype(dtype):
    x = np.arange(16).reshape(1, 1, 4, 4).astype(dtype)
    y, _ = max_pool_2d(x, ksize=(2, 2), stride=(2, 2), pad=(1, 1, 1, 1), keep=False)
    assert y.dtype == dtype
    assert y[0, 0].tolist() == [[0, 2, 3], [8, 10, 11], [12, 14, 15]]


def test_nan_wins():
    x = np.zeros((1, 1, 4, 4))
    x[0, 0, 1, 1] = np.nan
    for keep in (True, False):
        y, _ = max_pool_2d(x, ksize=(2, 2), stride=(2, 2), pad=(0, 0, 0, 0), keep=keep)
        assert np.isnan(y[0, 0, 0, 0])
        assert (y[0, 0] == 0).sum() == 3
