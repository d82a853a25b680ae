"""Every function that adds many float32 numbers is within 4e-7 of float64, whatever the size and the order of memory.

A new reduction joins by being listed. The numbers lie around 1, so that sums that lose digits lose them all one way.
"""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.native.library import native, why_no_native
from cvzoo.config.switches import using_config
from cvzoo.functions.normalization.group_normalization import GroupNormalization
from cvzoo.links import Linear
from cvzoo.optimizers import SGD, GradientClipping
from cvzoo.reporting.summary import Summary

SIZES = [(1, 5, 7, 7), (2, 24, 56, 56), (1, 8, 127, 131), (1, 3, 400, 400), (1, 2, 512, 512)]


def gradient(function):
    """The gradient of function(x, v) for the small v, against x as the gradient of the result."""

    def run(x):
        v = Variable(np.ones(x.shape[1], x.dtype))
        y = function(Variable(x), v)
        y.grad = x
        y.backward()
        return v.grad

    return run


def scaled(x, v):
    return F.broadcast_to(F.reshape(v, (1, -1, 1, 1)), x.shape)


def rows_of(function):
    """function of rows (N, C) that lie as a map's pixels do."""
    return lambda x: function(x.transpose(0, 2, 3, 1).reshape(-1, x.shape[1]))


def whole_rows(function):
    """function of the channels' planes as rows (B * C, H * W)."""
    return lambda x: function(np.ascontiguousarray(x).reshape(-1, x.shape[2] * x.shape[3]))


def batch_statistics(x, relu=False):
    backend, vector = backend_of(x), np.ones(x.shape[1], x.dtype)
    kernel = backend.batch_norm_relu_train if relu else backend.batch_norm_train
    return np.concatenate(kernel(x, vector, vector, eps=1e-5)[1:3])


def layer_statistics(x):
    _, *statistics = backend_of(x).layer_norm(x, np.ones(x.shape[1], x.dtype), np.ones(x.shape[1], x.dtype), eps=1e-5)
    return np.concatenate(statistics)


def group_statistics(x):
    """Of each channel's group in the first photo, half as many groups as channels."""
    function = GroupNormalization(1 if x.shape[1] % 2 else x.shape[1] // 2, 1e-5)
    function.apply((x, np.ones(x.shape[1], x.dtype), np.zeros(x.shape[1], x.dtype)))
    return np.concatenate(function._statistics[0])


def by_depthwise_weights(x, size, pad):
    W = Variable(np.ones((x.shape[1], 1, size, size), x.dtype))
    y = F.convolution_2d(x, W, pad=pad, groups=x.shape[1])
    y.grad = x
    y.backward()
    return W.grad


def by_normalization(x, which):
    """The gradient of a batch normalization's gamma or beta."""
    ones = np.ones(x.shape[1], x.dtype)
    backend = backend_of(x)
    return backend.batch_norm_grad(x, x, ones, ones - ones / 2, ones, eps=1e-5)[which]


def by_layer_normalization(x, which):
    """The gradient of a layer normalization's gamma or beta, over rows of channels."""
    rows = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).reshape(-1, x.shape[1])
    zeros, ones = np.zeros(len(rows), x.dtype), np.ones(len(rows), x.dtype)
    return backend_of(x).layer_norm_grad(rows, rows, np.ones(x.shape[1], x.dtype), zeros, ones, eps=1e-5)[which]


def by_clipping(x):
    """The norm of gradients, and where they end that are clipped to 1."""
    link = Linear(x.size, 1, nobias=True)
    link.W.array[...] = 0
    optimizer = SGD(1).setup(link)
    clipping = GradientClipping(1.0)
    optimizer.add_hook(clipping)
    link.W.grad = x.reshape(1, -1).astype(np.float32)
    optimizer.update()
    norm = np.sqrt(np.sum(np.square(x, dtype=np.float64)))
    return np.array([clipping.norm, norm * -link.W.array.sum(dtype=np.float64)], x.dtype)


def reported(x):
    """The mean of a thousand numbers reported one after another."""
    summary = Summary()
    for number in x.reshape(-1)[:1000]:
        summary.add(number)
    return np.array(summary.make_statistics(), x.dtype)


def of_regions(function):
    """The means of 2 x 2 cells of a whole map and of most of one."""

    def run(x):
        h, w = x.shape[2:]
        rois = np.array([[0, 0, h, w], [h / 8, w / 4, h * 3 / 4, w * 7 / 8]], x.dtype)
        return function(x, rois, np.zeros(2, np.int32), (2, 2), 1.0)

    return run


def by_bias(x):
    W = np.ones((x.shape[1], 1, 1, 1), x.dtype)
    return gradient(lambda x, b: F.convolution_2d(x, W, b, groups=x.shape[1]))(x)


# name: function of an array x (B, C, H, W)
REDUCTIONS = {
    "sum over maps": lambda x: F.sum(x, (2, 3)),
    "sum over batch and maps": lambda x: F.sum(x, (0, 2, 3)),
    "sum over columns": lambda x: F.sum(x, 2),
    "sum over rows": lambda x: F.sum(x, 3, keepdims=True),
    "sum over channels": lambda x: F.sum(x, 1),
    "sum over all": F.sum,
    "sum over rows and channels": lambda x: F.sum(x, (1, 3)),
    "average": lambda x: F.average(x, (2, 3)),
    "weighted average": lambda x: F.average(x, (2, 3), x),
    "mean": F.mean,
    "norm": lambda x: F.norm(x, (2, 3)),
    "batch_l2_norm_squared": F.batch_l2_norm_squared,
    "logsumexp": lambda x: F.logsumexp(x, (2, 3)),
    "softmax": whole_rows(F.softmax),
    "softmax over pixels": lambda x: F.softmax(x.reshape(*x.shape[:2], -1).transpose(0, 2, 1), axis=1),
    "channel_sum": F.channel_sum,
    "sum_to": lambda x: F.sum_to(x, (x.shape[1], 1, 1)),
    "global_average_pooling_2d": F.global_average_pooling_2d,
    "average_pooling_2d of tiles": lambda x: F.average_pooling_2d(x, tuple(n // 2 for n in x.shape[2:])),
    "average_pooling_2d of pads": lambda x: F.average_pooling_2d(x, 15, 7, 7, count_pad=False),
    "adaptive_average_pooling_2d": lambda x: F.adaptive_average_pooling_2d(x, (2, 3)),
    "gradient of a bias": by_bias,
    "gradient of linear's bias": rows_of(gradient(lambda x, b: F.linear(x, np.eye(x.shape[1], dtype=x.dtype), b))),
    "gradient of broadcasting": gradient(scaled),
    "gradient of a product": gradient(lambda x, v: x * F.reshape(v, (1, -1, 1, 1))),
    "mean_squared_error": lambda x: F.mean_squared_error(x, np.zeros_like(x)),
    "mean_absolute_error": lambda x: F.mean_absolute_error(x, np.zeros_like(x)),
    "huber_loss": lambda x: F.huber_loss(x, np.zeros_like(x), 1.0, reduce="mean"),
    "sigmoid_cross_entropy": lambda x: F.sigmoid_cross_entropy(x, np.ones(x.shape, np.int32)),
    "cumsum": lambda x: F.cumsum(x, 2),
    "cumsum of columns": lambda x: F.cumsum(x, 3),
    "focal_loss": lambda x: F.focal_loss(x.transpose(0, 2, 3, 1), np.zeros((len(x), *x.shape[2:]), np.int32)),
    "softmax_cross_entropy": lambda x: F.softmax_cross_entropy(x, np.zeros((len(x), *x.shape[2:]), np.int32)),
    "statistics of batch normalization": batch_statistics,
    "statistics of batch normalization of rows": rows_of(batch_statistics),
    "statistics of batch normalization and relu": lambda x: batch_statistics(x, relu=True),
    "statistics of group normalization": group_statistics,
    "statistics of layer normalization": whole_rows(layer_statistics),
    "average_pooling_2d of 7 x 7 that overlap": lambda x: F.average_pooling_2d(x, 7, 3, 3),
    "roi_average_pooling_2d": of_regions(F.roi_average_pooling_2d),
    "roi_average_align_2d": of_regions(F.roi_average_align_2d),
    "norm of clipped gradients": by_clipping,
    "reported means": reported,
}


# what oneDNN adds one number after the other, in kernels that do more than that, where ours are not built
OF_OURS = {
    "gradient of depthwise weights": lambda x: by_depthwise_weights(x, 5, 2),
    "average_pooling_2d of 7 x 7": lambda x: F.average_pooling_2d(x, 7, 7),
    "gradient of layer normalization's gamma": lambda x: by_layer_normalization(x, 1),
    "gradient of layer normalization's beta": lambda x: by_layer_normalization(x, 2),
    "gradient of batch normalization's gamma": lambda x: by_normalization(x, 1),
    "gradient of batch normalization's beta": lambda x: by_normalization(x, 2),
}


def in_order(x, order):
    if order == "sliced":
        return in_order(np.concatenate([x, x], axis=1), "channels_last")[:, : x.shape[1]]
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2) if order == "channels_last" else x


def error_of(function, x):
    with using_config("backend", "numpy"):
        want = np.asarray(as_array(function(x.astype(np.float64))))
    got = np.asarray(as_array(function(x)))
    assert got.dtype == np.float32
    assert got.shape == want.shape
    return np.max(np.abs(got - want) / np.abs(want))


@pytest.mark.parametrize("order", ["channels_first", "channels_last", "sliced"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_keeps_its_digits(name, order, backend):
    for size in SIZES:
        x = np.random.default_rng([1, *size]).random(size, np.float32) + np.float32(0.5)
        assert error_of(REDUCTIONS[name], in_order(x, order)) < 4e-7, size


@pytest.mark.parametrize("size", [1, 3])
def test_gradients_of_small_depthwise_filters_of_numpy_keep_their_digits(size):
    for shape in SIZES:
        x = np.random.default_rng([1, *shape]).random(shape, np.float32) + np.float32(0.5)
        with using_config("backend", "numpy"):
            assert error_of(lambda x: by_depthwise_weights(x, size, size // 2), x) < 4e-7, shape


@pytest.mark.parametrize("order", ["channels_first", "channels_last", "sliced"])
@pytest.mark.parametrize("name", OF_OURS)
def test_a_reduction_of_our_own_kernels_keeps_its_digits(name, order, backend):
    if backend == "onednn" and native() is None:
        pytest.skip(why_no_native())
    for size in SIZES:
        x = np.random.default_rng([1, *size]).random(size, np.float32) + np.float32(0.5)
        assert error_of(OF_OURS[name], in_order(x, order)) < 4e-7, size
