"""A convolution with its normalization and any activation."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv


def with_statistics(link):
    rng = np.random.default_rng(3)
    for name in ("avg_mean", "avg_var"):
        array = getattr(link.bn, name)
        array[...] = rng.uniform(0.5, 1.5, array.shape)
    return link


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("norm", ["batch", "frozen", "group"])
@pytest.mark.parametrize("activ", [None, F.relu, F.relu6, F.hard_swish, F.silu, F.elu])
def test_one_kernel_gives_what_three_steps_give(activ, norm, backend):
    link = ConvNormActiv(4, 8, 3, 2, groups=2, dilate=2, norm=norm, eps=1e-3, activ=activ)
    if norm != "group":
        with_statistics(link)
    x = np.random.default_rng(0).standard_normal((2, 4, 9, 12), "float32")
    residual = np.random.default_rng(1).standard_normal((2, 8, 5, 6), "float32")
    with using_config("backend", backend), using_config("train", False):
        for added in (None, residual):
            steps = link.bn(F.convolution_2d(x, link.conv.W, None, 2, 2, dilate=2, groups=2))
            steps = steps if added is None else steps + added
            steps = steps if activ is None else activ(steps)
            np.testing.assert_allclose(link(x, added).array, steps.array, atol=1e-5)
            with no_backprop_mode():
                np.testing.assert_allclose(link(x, added).array, steps.array, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("size", [(8, 8), (7, 8), (9, 5), (1, 2)])
@pytest.mark.parametrize(("ksize", "stride"), [(3, 2), (5, 2), (3, 1), (1, 2), (3, 3)])
def test_padding_at_the_end_gives_each_window_what_tensorflow_gives_it(size, ksize, stride):
    link = ConvNormActiv(2, 3, ksize, stride, activ=None, pad_end=True)
    x = np.random.default_rng(0).standard_normal((1, 2, *size), "float32")
    h, w = (-(-n // stride) for n in size)
    rims = [max((-(-n // stride) - 1) * stride + ksize - n, 0) for n in size]
    padded = np.pad(x, ((0, 0), (0, 0), *((rim // 2, rim - rim // 2) for rim in rims)))
    want = np.zeros((3, h, w))
    for i in range(h):
        for j in range(w):
            window = padded[0, :, i * stride : i * stride + ksize, j * stride : j * stride + ksize]
            want[:, i, j] = (link.conv.W.array * window).sum((1, 2, 3))
    want /= np.sqrt(1 + 1e-5)
    with using_config("train", False):
        y = link(x)
        assert y.shape == (1, 3, h, w)
        np.testing.assert_allclose(y.array[0], want, rtol=1e-4, atol=1e-4)
        with no_backprop_mode():
            np.testing.assert_allclose(link(x).array[0], want, rtol=1e-4, atol=1e-4)


def test_running_statistics_move_by_the_decay():
    link = ConvNormActiv(2, 3, 1, decay=0.75)
    x = np.random.default_rng(0).standard_normal((4, 2, 5, 5), "float32")
    with using_config("train", True):
        h = F.convolution_2d(x, link.conv.W).array
        link(x)
    np.testing.assert_allclose(link.bn.avg_mean, 0.25 * h.mean((0, 2, 3)), atol=1e-6)


def test_an_unknown_normalization_is_told():
    with pytest.raises(ValueRangeError, match="normalization"):
        ConvNormActiv(2, 3, 1, norm="layer")
