import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.backends.numpy.conv import channel_sum, conv_2d, conv_2d_input_grad, conv_2d_weight_grad


def conv_by_loops(x, w, stride, pad, dilate, groups):
    """The sum that defines a convolution, pixel by pixel."""
    n, _, h, width = x.shape
    o, c_group, kh, kw = w.shape
    oh = (h + pad[0] + pad[1] - dilate[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (width + pad[2] + pad[3] - dilate[1] * (kw - 1) - 1) // stride[1] + 1
    y = np.zeros((n, o, oh, ow))
    for k, i, j in itertools.product(range(o), range(oh), range(ow)):
        first = k // (o // groups) * c_group
        for a, b in itertools.product(range(kh), range(kw)):
            row, column = i * stride[0] + a * dilate[0] - pad[0], j * stride[1] + b * dilate[1] - pad[2]
            if 0 <= row < h and 0 <= column < width:
                y[:, k, i, j] += x[:, first : first + c_group, row, column] @ w[k, :, a, b]
    return y


@st.composite
def convolutions(draw):
    integers = lambda low, high: draw(st.integers(low, high))  # noqa: E731
    groups = integers(1, 3)
    c, o = groups * integers(1, 2), groups * integers(1, 2)
    stride, dilate, ksize = ((integers(1, 3), integers(1, 3)) for _ in range(3))
    pad = (integers(0, 2), integers(-1, 3), integers(0, 2), integers(-1, 3))
    size = [max(1 + dilate[k] * (ksize[k] - 1) - pad[2 * k] - pad[2 * k + 1], 2) + integers(0, 4) for k in (0, 1)]
    rng = np.random.default_rng(integers(0, 1000))
    x, w = rng.standard_normal((integers(1, 2), c, *size)), rng.standard_normal((o, c // groups, *ksize))
    return x, w, {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}


@settings(max_examples=60, deadline=None)
@given(convolutions())
def test_a_convolution_is_the_sum_that_defines_it(case):
    x, w, geometry = case
    b = np.arange(len(w)) / 7
    expected = conv_by_loops(x, w, **geometry)
    np.testing.assert_allclose(conv_2d(x, w, None, **geometry), expected, atol=1e-10)
    np.testing.assert_allclose(conv_2d(x, w, b, **geometry), expected + b[:, None, None], atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(convolutions())
def test_the_gradients_are_the_adjoints(case):
    x, w, geometry = case
    y = conv_2d(x, w, None, **geometry)
    gy = np.random.default_rng(0).standard_normal(y.shape)
    gx = conv_2d_input_grad(gy, w, x.shape[2:], **geometry)
    gw = conv_2d_weight_grad(x, gy, w.shape[2:], **geometry)
    assert gx.shape == x.shape
    assert gw.shape == w.shape
    # <conv(x, w), gy> is linear in x and in w
    np.testing.assert_allclose([np.vdot(x, gx), np.vdot(w, gw)], np.vdot(y, gy), atol=1e-9)


def test_a_photo_has_the_same_bits_alone_and_in_company():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((5, 16, 13, 12)).astype("f"), rng.standard_normal((32, 16, 3, 3)).astype("f")
    geometry = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    together = conv_2d(x, w, None, **geometry)
    for k in range(5):
        np.testing.assert_array_equal(conv_2d(x[k : k + 1], w, None, **geometry)[0], together[k])


def test_results_lie_channels_last():
    x, w = np.ones((2, 3, 8, 8), np.float32), np.ones((4, 3, 3, 3), np.float32)
    geometry = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    y = conv_2d(x, w, None, **geometry)
    assert y.transpose(0, 2, 3, 1).flags.c_contiguous
    assert conv_2d_input_grad(y, w, (8, 8), **geometry).transpose(0, 2, 3, 1).flags.c_contiguous
    assert y.dtype == np.float32


def test_weight_gradients_lie_as_weights_do():
    x, gy = np.ones((2, 3, 8, 8), np.float32), np.ones((2, 4, 8, 8), np.float32)
    geometry = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    assert conv_2d_weight_grad(x, gy, (3, 3), **geometry).flags.c_contiguous


@pytest.mark.parametrize("shape", [(3, 4), (2, 5, 3, 4), (0, 2, 3), (2, 3, 4, 5, 6)])
def test_channel_sum_sums_over_all_but_the_second_axis(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_allclose(channel_sum(x), np.moveaxis(x, 1, 0).reshape(shape[1], -1).sum(1), atol=1e-12)


def test_channel_sum_of_many_float32_numbers_is_exact():
    x = np.full((4, 2, 512, 512), 0.1, np.float32)
    np.testing.assert_allclose(channel_sum(x), 4 * 512 * 512 * float(np.float32(0.1)), rtol=1e-7)
