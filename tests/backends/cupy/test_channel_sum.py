"""Sums over channels on a GPU: as good as float64, the same bits in every order of threads."""

import numpy as np
import pytest
from host_cuda import thread_order
from on_device import assert_near, put

from cvzoo.backends.cupy.conv import channel_sum
from cvzoo.backends.numpy import backend as numpy_backend

ml_dtypes = pytest.importorskip("ml_dtypes")
CPU = numpy_backend
SHAPES = [(2, 8, 3, 5), (1000, 3), (7, 1, 9, 9), (2, 5, 11), (0, 4), (2, 0, 3), (4, 100, 9, 3), (1, 1, 128, 128)]


@pytest.fixture
def gpu(fake_gpu):
    with fake_gpu() as machine:
        yield machine


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", ml_dtypes.bfloat16, "int32"], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums(gpu, shape, dtype):
    x = (np.random.default_rng(0).standard_normal(shape) * 5).astype(dtype)
    bits = set()
    for order in ("forward", "reverse", "shuffled"):
        with thread_order(order):
            y = channel_sum(put(gpu.cupy, x))
        bits.add(y.get().tobytes())
    assert len(bits) == 1
    assert_near(y, CPU.channel_sum(x), 1e-6, scale=np.sqrt(x.size + 1))
    last = channel_sum(put(gpu.cupy, np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)))
    assert bits == {last.get().tobytes()}


def test_nothing_is_lost_beside_large_numbers(gpu):
    x = np.ones((70000, 1), "float32")
    x[::2] = 16777216.0
    assert channel_sum(put(gpu.cupy, x)).get() == np.float32(x.astype("float64").sum())


def test_infinite_and_lacking_numbers(gpu):
    x = np.ones((300, 3), "float32")
    x[7, 0], x[9, 1], x[11, 2] = np.inf, -np.inf, np.nan
    np.testing.assert_array_equal(channel_sum(put(gpu.cupy, x)).get(), [np.inf, -np.inf, np.nan])
    x[:, 0] = 3e38
    assert channel_sum(put(gpu.cupy, x)).get()[0] == np.inf
