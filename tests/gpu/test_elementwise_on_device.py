"""Kernels element by element, softmax, concat, resize, sums and losses on a real GPU, against NumPy."""

import ml_dtypes
import numpy as np
import pytest
from on_device import assert_near, put

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.abstract import ELTWISE_KINDS, FROM_OUTPUT_KINDS
from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.cupy.library import cupy, why_no_cupy
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.config.switches import using_config

REASON = why_no_cupy()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

CPU, GPU = numpy_backend, cupy_backend
DTYPES = {"float32": 1e-5, "float64": 1e-13, "float16": 4e-3, ml_dtypes.bfloat16: 3e-2}
SETTINGS = {"alpha": 0.7, "beta": 0.9}
RESIZES = [
    {"mode": "nearest", "align_corners": False, "antialias": False},
    {"mode": "bilinear", "align_corners": False, "antialias": False},
    {"mode": "bilinear", "align_corners": True, "antialias": False},
    {"mode": "bilinear", "align_corners": False, "antialias": True},
]
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=[np.dtype(dtype).name for dtype in DTYPES])


def draw(*shape, dtype, seed=0):
    """Channels-last if it is a photo."""
    x = np.random.default_rng(seed).standard_normal(shape)
    return CPU.channels_last(x.astype(dtype)) if len(shape) == 4 else x.astype(dtype)


@each_dtype
@pytest.mark.parametrize("kind", ELTWISE_KINDS)
def test_every_kind_its_derivative_and_special_values(kind, dtype):
    x, gy = draw(67, 129, dtype=dtype), draw(67, 129, dtype=dtype, seed=1)
    x[0, :7] = [np.nan, np.inf, -np.inf, 0, -0.0, 0.7, 0.9]
    there, gy_there = put(cupy(), x), put(cupy(), gy)
    assert_near(GPU.eltwise(kind, there, **SETTINGS), CPU.eltwise(kind, x, **SETTINGS), DTYPES[dtype])
    wanted = CPU.eltwise_grad(kind, gy, x, **SETTINGS)
    assert_near(GPU.eltwise_grad(kind, gy_there, there, **SETTINGS), wanted, DTYPES[dtype])
    if kind in FROM_OUTPUT_KINDS:
        wanted = CPU.eltwise_grad_from_output(kind, gy, x, **SETTINGS)
        assert_near(GPU.eltwise_grad_from_output(kind, gy_there, there, **SETTINGS), wanted, DTYPES[dtype])


@each_dtype
@pytest.mark.parametrize("other", [(8, 64, 9, 7), (64, 1, 1), (8, 64, 1, 1), (1, 1, 9, 7), ()], ids=str)
def test_chains_broadcast_in_one_pass(other, dtype):
    x, y = draw(8, 64, 9, 7, dtype=dtype), np.asarray(draw(*other, dtype="float32", seed=1)).astype(dtype)
    steps = [("add",), ("relu", 0.0, 0.0), ("multiply",), ("swish", 1.0, 0.0)]
    got = GPU.chain(put(cupy(), x), steps, [put(cupy(), y)] * 2)
    assert_near(got, CPU.chain(x, steps, [y] * 2), DTYPES[dtype])
    misaligned = put(cupy(), x.reshape(-1))[1:]
    assert_near(GPU.add(misaligned, misaligned), CPU.add(x.reshape(-1)[1:], x.reshape(-1)[1:]), DTYPES[dtype])


@each_dtype
@pytest.mark.parametrize("shape", [(4, 21, 33, 31), (300, 1000), (5, 5000), (128, 7, 49)], ids=str)
def test_softmax_and_its_gradients_along_every_axis(shape, dtype):
    x, gy = draw(*shape, dtype=dtype), draw(*shape, dtype=dtype, seed=1)
    there, gy_there = put(cupy(), x), put(cupy(), gy)
    for axis in range(len(shape)):
        p, log_p = CPU.softmax(x, axis=axis), CPU.log_softmax(x, axis=axis)
        assert_near(GPU.softmax(there, axis=axis), p, DTYPES[dtype])
        assert_near(GPU.log_softmax(there, axis=axis), log_p, DTYPES[dtype])
        got = GPU.softmax_grad(gy_there, put(cupy(), p), axis=axis)
        assert_near(got, CPU.softmax_grad(gy, p, axis=axis), DTYPES[dtype])
        got = GPU.log_softmax_grad(gy_there, put(cupy(), log_p), axis=axis)
        assert_near(got, CPU.log_softmax_grad(gy, log_p, axis=axis), DTYPES[dtype])


@each_dtype
def test_concat_resize_and_channel_sums(dtype):
    tolerance = DTYPES[dtype]
    xs = [draw(3, c, 17, 13, dtype=dtype, seed=c) for c in (64, 24, 7, 1, 8, 8, 16, 3, 40)]
    there = [put(cupy(), x) for x in xs]
    assert_near(GPU.concat(there, axis=1), CPU.concat(xs, axis=1), 0)
    assert_near(GPU.concat(there[:1] * 3, axis=0), CPU.concat(xs[:1] * 3, axis=0), 0)
    for x, x_there in list(zip(xs, there))[1:3]:
        got = [GPU.channel_sum(x_there) for _ in range(3)]
        assert_near(got[0], CPU.channel_sum(x), 1e-5)
        assert len({each.get().tobytes() for each in got}) == 1
        for settings in RESIZES:
            for size in ((40, 26), (9, 11)):
                y = CPU.resize_2d(x, size, **settings)
                assert_near(GPU.resize_2d(x_there, size, **settings), y, tolerance)
                gy = draw(*y.shape, dtype=dtype, seed=2)
                got = [GPU.resize_2d_grad(put(cupy(), gy), (17, 13), **settings) for _ in range(2)]
                assert_near(got[0], CPU.resize_2d_grad(gy, (17, 13), **settings), tolerance)
                assert got[0].get().tobytes() == got[1].get().tobytes()


LOSSES = {
    "softmax": (F.softmax_cross_entropy, (16, 1000), (16,), (-1, 1000)),
    "softmax of pixels": (F.softmax_cross_entropy, (2, 21, 65, 65), (2, 65, 65), (-1, 21)),
    "softmax of many classes": (F.softmax_cross_entropy, (9, 5000), (9,), (-1, 5000)),
    "focal": (F.focal_loss, (2, 3000, 80), (2, 3000), (-2, 80)),
    "sigmoid focal": (F.sigmoid_focal_loss, (2, 500, 20), (2, 500, 20), (-1, 2)),
    "sigmoid": (F.sigmoid_cross_entropy, (40, 28, 28), (40, 28, 28), (-1, 2)),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-11)])
def test_losses_their_gradients_and_bad_labels(name, dtype, tolerance):
    loss, shape, t_shape, labels = LOSSES[name]
    x = draw(*shape, dtype=dtype) * np.asarray(3, dtype)
    t = np.random.default_rng(2).integers(*labels, t_shape)
    with using_config("backend", "numpy"):
        wanted = Variable(x)
        y = loss(wanted, t)
        y.backward()
    got = Variable(put(cupy(), x))
    z = loss(got, put(cupy(), t))
    z.backward()
    assert_near(z.array, y.array, tolerance)
    assert_near(got.grad, wanted.grad, tolerance)
    t.reshape(-1)[0] = labels[1] + 5
    assert np.isnan(loss(got, put(cupy(), t)).array.get())
