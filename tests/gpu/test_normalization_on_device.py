"""Normalization, pooling and depthwise convolution on a real GPU, against NumPy: what its threads and memory do."""

import ml_dtypes
import numpy as np
import pytest
from on_device import assert_near, put

from cvzoo.backends.cuda.depthwise import depthwise_conv_2d, depthwise_input_grad, depthwise_weight_grad
from cvzoo.backends.cuda.normalization import batch_norm_forward, batch_norm_gradients
from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.cupy.library import cupy, why_no_cupy
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.numpy import conv as reference_conv
from cvzoo.backends.numpy import normalization as reference
from cvzoo.backends.numpy import pooling as reference_pooling
from cvzoo.backends.numpy.windows import out_size

REASON = why_no_cupy()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

CPU, GPU = numpy_backend, cupy_backend
DTYPES = {"float32": 2e-5, "float64": 1e-12, "float16": 4e-3, ml_dtypes.bfloat16: 3e-2}
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=[np.dtype(dtype).name for dtype in DTYPES])
EPS = 1e-3


def draw(shape, dtype, *, seed=0, mean=0.0):
    x = (np.random.default_rng(seed).standard_normal(shape) + mean).astype(dtype)
    return CPU.channels_last(x) if len(shape) == 4 else x


def wide_dtype(dtype):
    return "float64" if np.dtype(dtype) == np.float64 else "float32"


def there(*arrays):
    return [None if x is None else put(cupy(), x) for x in arrays]


def near(got, wanted, dtype, *, scale=None):
    assert_near(got, wanted.astype(got.dtype), DTYPES[dtype], scale=scale)


def wide(x):
    return x.astype(np.float64)


@each_dtype
@pytest.mark.parametrize("shape", [(16, 64, 56, 56), (8, 2048, 7, 7), (3, 19, 13, 11), (256, 100), (1, 8, 1, 1)])
def test_batch_norm_learns_and_gives_the_same_bits_twice(shape, dtype):
    x, gy, add = draw(shape, dtype, mean=3), draw(shape, dtype, seed=1), draw(shape, dtype, seed=2)
    gamma, beta = draw(shape[1:2], wide_dtype(dtype), mean=1), draw(shape[1:2], wide_dtype(dtype), seed=1)
    given = there(x, gamma, beta)
    y, mean, var, mask = batch_norm_forward(*given, eps=EPS, add=there(add)[0], relu=True)
    wanted, wanted_mean, wanted_var = reference.batch_norm_train(wide(x), wide(gamma), wide(beta), eps=EPS)
    near(y, np.maximum(wanted + wide(add), 0), dtype)
    near(mean, wanted_mean, dtype)
    near(var, wanted_var, dtype)
    grads = batch_norm_gradients(there(gy)[0], given[0], given[1], mean, var, eps=EPS, mask=mask, adds=True)
    passed = wide(grads[3].get())
    assert set(np.unique(passed - wide(gy) * (passed != 0))) <= {0.0}
    wanted = reference.batch_norm_grad(passed, wide(x), wide(gamma), wanted_mean, wanted_var, eps=EPS)
    for got, want in zip(grads, wanted):
        near(got, want, dtype, scale=max(np.abs(want).max(), x.size**0.5))
    again = batch_norm_forward(*given, eps=EPS, add=there(add)[0], relu=True)
    assert all((a == b).all() for a, b in zip(again, (y, mean, var, mask)))
    more = batch_norm_gradients(there(gy)[0], given[0], given[1], mean, var, eps=EPS, mask=mask, adds=True)
    assert all((a == b).all() for a, b in zip(more, grads))


@each_dtype
@pytest.mark.parametrize("shape", [(16, 256, 28, 28), (3, 19, 13, 11)])
def test_batch_norm_a_sum_and_relu_give_the_bits_of_three_calls(shape, dtype):
    x, gy, add = there(*[draw(shape, dtype, seed=k) for k in range(3)])
    gamma, beta = there(*[draw(shape[1:2], wide_dtype(dtype), seed=k, mean=1) for k in range(2)])
    y, mean, var, mask = GPU.batch_norm_relu_train(x, gamma, beta, eps=EPS, add=add)
    apart = GPU.eltwise("relu", GPU.add(GPU.batch_norm_train(x, gamma, beta, eps=EPS)[0], add))
    assert (y == apart).all()
    grads = GPU.batch_norm_relu_grad(gy, x, gamma, mean, var, mask, eps=EPS, adds=True)
    through = GPU.eltwise_grad_from_output("relu", gy, apart)
    wanted = (*GPU.batch_norm_grad(through, x, gamma, mean, var, eps=EPS), through)
    assert all((a == b).all() for a, b in zip(grads, wanted, strict=True))


@each_dtype
@pytest.mark.parametrize("shape", [(512, 768), (7, 33), (64, 5000)])
def test_layer_norm_is_numpys(shape, dtype):
    x, gy = draw(shape, dtype), draw(shape, dtype, seed=1)
    gamma, beta = draw(shape[1:], wide_dtype(dtype)), draw(shape[1:], wide_dtype(dtype), seed=1)
    got = GPU.layer_norm(*there(x, gamma, beta), eps=EPS)
    wanted = reference.layer_norm(wide(x), wide(gamma), wide(beta), eps=EPS)
    for one, two in zip(got, wanted):
        near(one, two, dtype, scale=max(np.abs(two).max(), 1))
    grads = GPU.layer_norm_grad(*there(gy, x, gamma), *got[1:], eps=EPS)
    for one, two in zip(grads, reference.layer_norm_grad(wide(gy), wide(x), wide(gamma), *wanted[1:], eps=EPS)):
        near(one, two, dtype, scale=max(np.abs(two).max(), shape[0] ** 0.5))


@each_dtype
def test_local_response_norm_is_numpys(dtype):
    x, gy = draw((2, 96, 27, 27), dtype), draw((2, 96, 27, 27), dtype, seed=1)
    given = {"n": 5, "k": 2.0, "alpha": 1e-2, "beta": 0.75}
    near(GPU.local_response_norm(*there(x), **given), reference.local_response_norm(wide(x), **given), dtype)
    wanted = reference.local_response_norm_grad(wide(gy), wide(x), **given)
    near(GPU.local_response_norm_grad(*there(gy, x), **given), wanted, dtype)


@each_dtype
@pytest.mark.parametrize(
    ("shape", "ksize", "stride", "pad"),
    [
        ((4, 64, 57, 56), (3, 3), (2, 2), (1, 1, 1, 1)),
        ((2, 21, 16, 15), (2, 2), (2, 2), (0, 0, 0, 1)),
        ((3, 100, 7, 7), (7, 7), (1, 1), (0, 0, 0, 0)),
        ((1, 512, 20, 20), (13, 13), (1, 1), (6, 6, 6, 6)),
    ],
)
def test_pooling_is_numpys(shape, ksize, stride, pad, dtype):
    x = draw(shape, dtype)
    x[0, 0, 1, 1], x[0, 1, 2, 2] = np.nan, -np.inf
    given = {"ksize": ksize, "stride": stride, "pad": pad}
    y, kept = GPU.max_pool_2d(*there(x), keep=True, **given)
    wanted, wanted_kept = reference_pooling.max_pool_2d(wide(x), keep=True, **given)
    np.testing.assert_array_equal(wide(y.get()), wanted)
    np.testing.assert_array_equal(kept.get(), wanted_kept)
    indices = GPU.max_pool_2d_indices(*there(x), **given)
    np.testing.assert_array_equal(indices.get(), reference_pooling.max_pool_2d_indices(wide(x), **given))
    gy, x = draw(wanted.shape, dtype), draw(shape, dtype)
    gx = GPU.max_pool_2d_grad(*there(gy), kept, shape, **given)
    near(gx, reference_pooling.max_pool_2d_grad(wide(gy), wanted_kept, shape, **given), dtype)
    for count_pad in (False, True):
        mean = GPU.average_pool_2d(*there(x), count_pad=count_pad, **given)
        near(mean, reference_pooling.average_pool_2d(wide(x), count_pad=count_pad, **given), dtype, scale=1)
        gx = GPU.average_pool_2d_grad(*there(gy), shape, count_pad=count_pad, **given)
        near(gx, reference_pooling.average_pool_2d_grad(wide(gy), shape, count_pad=count_pad, **given), dtype)


@each_dtype
@pytest.mark.parametrize(
    ("channels", "outputs", "size", "ksize", "stride", "pad", "dilate"),
    [
        (32, 32, (112, 112), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
        (96, 96, (57, 56), (3, 3), (2, 2), (0, 1, 0, 1), (1, 1)),
        (240, 240, (28, 28), (5, 5), (2, 2), (2, 2, 2, 2), (1, 1)),
        (672, 672, (14, 14), (5, 5), (1, 1), (2, 2, 2, 2), (1, 1)),
        (96, 96, (28, 28), (7, 7), (1, 1), (3, 3, 3, 3), (1, 1)),
        (19, 38, (13, 11), (3, 2), (1, 2), (1, 1, 0, 1), (2, 1)),
    ],
)
def test_depthwise_convolution_is_numpys(channels, outputs, size, ksize, stride, pad, dilate, dtype):
    given = {"stride": stride, "pad": pad, "dilate": dilate}
    x, w = draw((2, channels, *size), dtype), draw((outputs, 1, *ksize), dtype, seed=1)
    gy = draw((2, outputs, *out_size(size, ksize, stride, pad, dilate)), dtype, seed=2)
    b = draw((outputs,), dtype, seed=3)
    y = depthwise_conv_2d(*there(x, w, b), **given, activation="hard_swish", alpha=1 / 6, beta=0.5)
    wanted = reference_conv.conv_2d(
        wide(x), wide(w), wide(b), groups=channels, **given, activation="hard_swish", alpha=1 / 6, beta=0.5
    )
    near(y, wanted, dtype)
    gx = depthwise_input_grad(*there(gy, w), size, groups=channels, add=there(x)[0], **given)
    near(gx, reference_conv.conv_2d_input_grad(wide(gy), wide(w), size, groups=channels, **given) + wide(x), dtype)
    gw = depthwise_weight_grad(*there(x, gy), ksize, **given)
    near(gw, reference_conv.conv_2d_weight_grad(wide(x), wide(gy), ksize, groups=channels, **given), dtype)
    assert (gw == depthwise_weight_grad(*there(x, gy), ksize, **given)).all()


def test_views_that_are_not_aligned_to_16_bytes_are_read_rightly():
    x = draw((2, 16, 9, 9), np.float16)
    flat = cupy().empty(x.size + 1, np.float16)[1:]
    view = flat.reshape(2, 9, 9, 16).transpose(0, 3, 1, 2)
    view[...] = there(x)[0]
    given = {"ksize": (2, 2), "stride": (2, 2), "pad": (0, 0, 0, 0)}
    y, _ = GPU.max_pool_2d(view, keep=False, **given)
    np.testing.assert_array_equal(y.get(), CPU.max_pool_2d(x, keep=False, **given)[0])


def test_work_is_captured_and_replayed():
    xp = cupy()
    x, gamma, beta = there(draw((4, 64, 14, 14), np.float32), np.ones(64, "float32"), np.zeros(64, "float32"))
    w = there(draw((64, 1, 3, 3), np.float32))[0]

    def work():
        y = GPU.batch_norm_relu_train(x, gamma, beta, eps=EPS)[0]
        y = depthwise_conv_2d(y, w, None, stride=(1, 1), pad=(1, 1, 1, 1), dilate=(1, 1))
        return GPU.max_pool_2d(y, ksize=(2, 2), stride=(2, 2), pad=(0, 0, 0, 0), keep=True)

    wanted = work()
    stream = xp.cuda.Stream(non_blocking=True)
    with stream:
        work()
        stream.synchronize()
        stream.begin_capture()
        got = work()
        graph = stream.end_capture()
        graph.launch(stream)
    stream.synchronize()
    assert all((a == b).all() for a, b in zip(got, wanted))
