"""Softmax on a GPU gives the processor's numbers along every axis, the same bits in every order of threads."""

import numpy as np
import pytest
from host_cuda import thread_order
from on_device import assert_near, put

from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.numpy import backend as numpy_backend

ml_dtypes = pytest.importorskip("ml_dtypes")
CPU, GPU = numpy_backend, cupy_backend
TOLERANCES = {"float32": 4e-6, "float64": 1e-13, "float16": 4e-3, ml_dtypes.bfloat16: 3e-2}
SHAPES = [(2, 8, 3, 5), (7, 33), (9, 255), (2, 256), (2, 257), (3, 1500), (4, 1), (2, 3, 0), (0, 3), (1, 1024)]


@pytest.fixture
def gpu(fake_gpu):
    with fake_gpu() as machine:
        yield machine


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", TOLERANCES, ids=[np.dtype(dtype).name for dtype in TOLERANCES])
def test_softmax_its_logarithm_and_their_gradients(gpu, shape, dtype):
    random, tolerance = np.random.default_rng(0), TOLERANCES[dtype]
    x = (random.standard_normal(shape) * 3).astype(dtype)
    gy = random.standard_normal(shape).astype(dtype)
    layouts = [x]
    if len(shape) == 4:
        layouts += [np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2), x.transpose(3, 2, 1, 0)]
    for lying in layouts:
        g = gy.reshape(lying.shape)
        there, g_there = put(gpu.cupy, lying), put(gpu.cupy, g)
        for axis in range(-1, len(shape)):
            bits = []
            p, log_p = CPU.softmax(lying, axis=axis), CPU.log_softmax(lying, axis=axis)
            for order in ("forward", "reverse", "shuffled"):
                with thread_order(order):
                    results = [
                        GPU.softmax(there, axis=axis),
                        GPU.log_softmax(there, axis=axis),
                        GPU.softmax_grad(g_there, put(gpu.cupy, p), axis=axis),
                        GPU.log_softmax_grad(g_there, put(gpu.cupy, log_p), axis=axis),
                    ]
                bits.append([result.get().tobytes() for result in results])
            assert bits[0] == bits[1] == bits[2]
            assert_near(results[0], p, tolerance)
            assert_near(results[1], log_p, tolerance)
            assert_near(results[2], CPU.softmax_grad(g, p, axis=axis), tolerance, scale=1)
            assert_near(results[3], CPU.log_softmax_grad(g, log_p, axis=axis), tolerance)


def test_extremes(gpu):
    x = np.array([[1e4, -1e4, 0], [np.nan, 1, 2], [-np.inf, 0, 1], [-np.inf] * 3, [np.inf, 0, 1]], "float32")
    with np.errstate(all="ignore"):
        for axis in (0, 1):
            assert_near(GPU.softmax(put(gpu.cupy, x), axis=axis), CPU.softmax(x, axis=axis), 1e-6)
            assert_near(GPU.log_softmax(put(gpu.cupy, x), axis=axis), CPU.log_softmax(x, axis=axis), 1e-6)


def test_sliced_scores_and_integers(gpu):
    x = np.random.default_rng(2).standard_normal((4, 10)).astype("float32")
    there = put(gpu.cupy, x)
    assert_near(GPU.softmax(there[:, ::3], axis=1), CPU.softmax(x[:, ::3], axis=1), 1e-6)
    assert_near(GPU.softmax(gpu.cupy.broadcast_to(there[:1], x.shape), axis=0), np.full_like(x, 0.25), 1e-6)
    assert_near(GPU.softmax(put(gpu.cupy, np.arange(6)), axis=0), CPU.softmax(np.arange(6), axis=0), 1e-12)
