"""Maps at another size on a GPU: the processor's numbers, the gradient always in one order of summing."""

import itertools

import numpy as np
import pytest
from host_cuda import thread_order
from on_device import assert_near, put

from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.numpy import backend as numpy_backend

ml_dtypes = pytest.importorskip("ml_dtypes")
CPU, GPU = numpy_backend, cupy_backend
TOLERANCES = {"float32": 2e-6, "float64": 1e-14, "float16": 2e-3, ml_dtypes.bfloat16: 2e-2}
SETTINGS = [
    {"mode": "nearest", "align_corners": False, "antialias": False},
    {"mode": "bilinear", "align_corners": False, "antialias": False},
    {"mode": "bilinear", "align_corners": True, "antialias": False},
    {"mode": "bilinear", "align_corners": False, "antialias": True},
]
SIZES = list(itertools.product([(5, 7), (1, 1), (8, 4)], [(5, 7), (10, 14), (3, 2), (1, 1), (16, 3)]))


@pytest.fixture
def gpu(fake_gpu):
    with fake_gpu() as machine:
        yield machine


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("dtype", TOLERANCES, ids=[np.dtype(dtype).name for dtype in TOLERANCES])
@pytest.mark.parametrize("channels", [3, 8])
def test_maps_and_gradients(gpu, settings, dtype, channels):
    random, tolerance = np.random.default_rng(0), TOLERANCES[dtype]
    for (h, w), size in SIZES:
        x = random.standard_normal((2, channels, h, w)).astype(dtype)
        y = CPU.resize_2d(x, size, **settings)
        got = GPU.resize_2d(put(gpu.cupy, x), size, **settings)
        assert_near(got, y, tolerance)
        assert got.transpose(0, 2, 3, 1).flags.c_contiguous
        gy = random.standard_normal(y.shape).astype(dtype)
        got = GPU.resize_2d_grad(put(gpu.cupy, gy), (h, w), **settings)
        assert_near(got, CPU.resize_2d_grad(gy, (h, w), **settings), 2 * tolerance)


def test_integers(gpu):
    x = np.random.default_rng(0).integers(0, 255, (2, 3, 5, 7)).astype("uint8")
    for settings in SETTINGS[:2]:
        got = GPU.resize_2d(put(gpu.cupy, x), (9, 4), **settings)
        assert_near(got, CPU.resize_2d(x, (9, 4), **settings), 1e-6)


def test_one_launch_and_tables_that_are_carried_once(gpu):
    x = put(gpu.cupy, CPU.zeros((1, 8, 6, 6)))
    GPU.resize_2d(x, (12, 12), **SETTINGS[1])
    gpu.recorder.clear()
    for order in ("forward", "reverse", "shuffled"):
        with thread_order(order):
            GPU.resize_2d(x, (12, 12), **SETTINGS[1])
    assert gpu.recorder.counts()["launch"] == 3
    assert not gpu.recorder.of("h2d", "d2h", "sync")
