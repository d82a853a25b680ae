"""Arrays of more than 2**31 numbers on a real GPU: their last rows are what the same rows of a small array are."""

import numpy as np
import pytest
from on_device import assert_near

from cvzoo.backends.cuda.depthwise import depthwise_conv_2d, depthwise_input_grad
from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.cupy.library import cupy, why_no_cupy

REASON = why_no_cupy()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

GPU = cupy_backend
PERIOD, WIDTH, CHANNELS = 16, 16384, 8
TIMES = 1025  # 2,149,580,800 numbers
ROOM = 32 << 30  # bytes, for all that the largest case holds at once
WINDOWS = {"ksize": (2, 2), "stride": (2, 2), "pad": (0, 0, 0, 0)}
SLIDING = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1)}


def repeated(pattern, times):
    """The pattern (PERIOD, W, C), so many times one below the other, as a photo (1, C, H, W)."""
    xp = cupy()
    x = xp.empty((1, times, *pattern.shape), pattern.dtype)
    x[...] = pattern
    return x.reshape(1, -1, *pattern.shape[1:]).transpose(0, 3, 1, 2)


def ones(channels, value=1.0):
    return cupy().full(channels, value, np.float32)


def filters():
    rng = np.random.default_rng(1)
    return cupy().asarray(rng.standard_normal((CHANNELS, 1, 3, 3)).astype(np.float16))


def pooled_back(x):
    y, kept = GPU.max_pool_2d(x, keep=True, **WINDOWS)
    return GPU.max_pool_2d_grad(y, kept, x.shape, **WINDOWS)


CASES = {
    "a rectifier": lambda x: GPU.eltwise("relu", x),
    "a number for each channel": lambda x: GPU.add(x, cupy().arange(CHANNELS, dtype=x.dtype).reshape(1, -1, 1, 1)),
    "every second column": lambda x: GPU.add(x[:, :, :, ::2], x[:, :, :, ::2]),
    "softmax": lambda x: GPU.softmax(x, axis=1),
    "joined": lambda x: GPU.concat([x[:, :1], x], axis=1),
    "normalized": lambda x: GPU.batch_norm_fixed(x, *map(ones, [CHANNELS] * 4), eps=1e-3),
    "maxima": lambda x: GPU.max_pool_2d(x, keep=True, **WINDOWS)[0],
    "gradients of maxima": pooled_back,
    "means": lambda x: GPU.average_pool_2d(x, count_pad=True, **WINDOWS),
    "a convolution": lambda x: depthwise_conv_2d(x, filters(), None, **SLIDING),
    "a convolution's gradient": lambda x: depthwise_input_grad(x, filters(), x.shape[2:], groups=CHANNELS, **SLIDING),
    "half the size": lambda x: GPU.resize_2d(
        x, (x.shape[2] // 2, x.shape[3] // 2), mode="bilinear", align_corners=False, antialias=False
    ),
}


@pytest.fixture(scope="module")
def pattern():
    if cupy().cuda.runtime.memGetInfo()[0] < ROOM:
        pytest.skip(f"a GPU with {ROOM >> 30} GiB to spare")
    numbers = np.random.default_rng(0).standard_normal((PERIOD, WIDTH, CHANNELS))
    yield cupy().asarray(numbers.astype(np.float16))
    cupy().get_default_memory_pool().free_all_blocks()


@pytest.mark.parametrize("name", CASES)
def test_the_last_rows_are_those_of_a_small_array(name, pattern):
    last = [CASES[name](repeated(pattern, times))[:, :, -4:].copy() for times in (TIMES, 2)]
    assert last[0].get().tobytes() == last[1].get().tobytes()


def test_sums_of_very_many_numbers(pattern):
    want = pattern.get().astype(np.float64).sum((0, 1)) * TIMES
    assert_near(GPU.channel_sum(repeated(pattern, TIMES)), want.astype(np.float32), 1e-5)


def test_batch_statistics_of_very_many_numbers(pattern):
    x = repeated(pattern, TIMES)
    _, mean, var = GPU.batch_norm_train(x, ones(CHANNELS), ones(CHANNELS, 0.0), eps=1e-3)
    numbers = pattern.get().astype(np.float64)
    assert_near(mean, numbers.mean((0, 1)).astype(np.float32), 1e-4, scale=1)
    assert_near(var, numbers.var((0, 1)).astype(np.float32), 1e-4)
