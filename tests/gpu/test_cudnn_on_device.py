"""Convolutions by cuDNN on a real GPU, against NumPy: what its kernels compute, what is captured, what is measured."""

import ml_dtypes
import numpy as np
import pytest

from cvzoo.backends.cudnn import conv, plans
from cvzoo.backends.cudnn.library import why_no_cudnn
from cvzoo.backends.cudnn.plan_store import PlanStore
from cvzoo.backends.cupy.library import cupy, why_no_cupy
from cvzoo.backends.numpy import conv as reference
from cvzoo.backends.numpy.windows import out_size
from cvzoo.config.switches import using_config

REASON = why_no_cupy() or why_no_cudnn()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

MODES = {
    # mode: dtype, error of the largest number
    "float32": (np.dtype(np.float32), 1e-5),
    "tf32": (np.dtype(np.float32), 2e-3),
    "mixed_fp16": (np.dtype(np.float16), 2e-3),
    "mixed_bf16": (np.dtype(ml_dtypes.bfloat16), 1e-2),
}
CASES = [
    # batch, channels in and out, groups, size, window, stride, pad, dilate
    (4, 3, 64, 1, (64, 60), (7, 7), (2, 2), (3, 3, 3, 3), (1, 1)),
    (4, 64, 256, 1, (28, 28), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    (4, 64, 64, 1, (28, 28), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    (4, 64, 128, 1, (29, 27), (3, 3), (2, 2), (0, 1, 0, 1), (1, 1)),
    (2, 64, 32, 1, (30, 30), (3, 3), (1, 1), (12, 12, 12, 12), (12, 12)),
    (2, 128, 128, 32, (14, 14), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    (2, 48, 21, 1, (17, 19), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
    (1, 13, 7, 1, (9, 11), (3, 2), (2, 3), (2, 0, 1, 2), (1, 1)),
]


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    conv.forget_calls()
    plans.forget_plans()


def arrays_of(case, dtype):
    b, c, o, groups, size, ksize, stride, pad, dilate = case
    rng = np.random.default_rng(0)
    out = out_size(size, ksize, stride, pad, dilate)
    shapes = [(b, c, *size), (o, c // groups, *ksize), (o,), (b, o, *out), (b, o, *out), (b, c, *size)]
    arrays = [rng.standard_normal(shape, np.float32).astype(dtype) for shape in shapes]
    return arrays, {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}


def near(got, want, error):
    got = got.get().astype(np.float32)
    assert np.isfinite(got).all()
    assert np.abs(got - want).max() <= error * np.abs(want).max()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_convolutions_agree_with_numpy(case, mode):
    dtype, error = MODES[mode]
    arrays, geometry = arrays_of(case, dtype)
    size, ksize = arrays[0].shape[2:], arrays[1].shape[2:]
    wx, ww, wb, wadd, wgy, wmore = (each.astype(np.float32) for each in arrays)
    dx, dw, db, dadd, dgy, dmore = (cupy().array(each) for each in arrays)
    with using_config("dtype", mode):
        for relu in (None, "relu"):
            for bias, added in ((None, False), (db, False), (None, True), (db, True)):
                y = conv.conv_2d(dx, dw, bias, add=dadd if added else None, activation=relu, **geometry)
                want = reference.conv_2d(
                    wx, ww, None if bias is None else wb, add=wadd if added else None, activation=relu, **geometry
                )
                near(y, want, error)
        want = reference.conv_2d_input_grad(wgy, ww, size, **geometry)
        near(conv.conv_2d_input_grad(dgy, dw, size, **geometry), want, error)
        near(conv.conv_2d_input_grad(dgy, dw, size, add=dmore, **geometry), want + wmore, error)
        want = reference.conv_2d_weight_grad(wx, wgy, ksize, **geometry)
        near(conv.conv_2d_weight_grad(dx, dgy, ksize, **geometry), want, 10 * error)


def test_the_same_call_gives_the_same_bits():
    arrays, geometry = arrays_of(CASES[2], np.dtype(ml_dtypes.bfloat16))
    x, _, _, _, gy, _ = (cupy().array(each) for each in arrays)
    first = conv.conv_2d_weight_grad(x, gy, (3, 3), **geometry).get()
    for _ in range(5):
        again = conv.conv_2d_weight_grad(x, gy, (3, 3), **geometry).get()
        assert first.tobytes() == again.tobytes()


@pytest.mark.parametrize("mode", ["tf32", "mixed_bf16"])
def test_measured_and_stored_plans_agree_too(mode):
    dtype, error = MODES[mode]
    arrays, geometry = arrays_of(CASES[2], dtype)
    x, w, b = (cupy().array(each) for each in arrays[:3])
    want = reference.conv_2d(*(each.astype(np.float32) for each in arrays[:3]), activation="relu", **geometry)
    with using_config("dtype", mode), using_config("autotune", True):
        near(conv.conv_2d(x, w, b, activation="relu", **geometry), want, error)
        conv.forget_calls()
        plans.forget_plans()
        near(conv.conv_2d(x, w, b, activation="relu", **geometry), want, error)
    (file,) = (plans.cvzoo_home() / "plans").iterdir()
    with PlanStore(file)._opened(to_write=False) as connection:
        assert connection.execute("SELECT count(*) FROM plans WHERE milliseconds > 0").fetchone() != (0,)


def test_a_captured_convolution_is_replayed():
    arrays, geometry = arrays_of(CASES[0], np.dtype(np.float16))
    x, w, b = (cupy().array(each) for each in arrays[:3])
    stream = cupy().cuda.Stream(non_blocking=True)
    with stream, cupy().cuda.using_allocator(cupy().cuda.MemoryPool().malloc):
        conv.conv_2d(x, w, b, activation="relu", **geometry)
        stream.synchronize()
        stream.begin_capture()
        y = conv.conv_2d(x, w, b, activation="relu", **geometry)
        graph = stream.end_capture()
        x *= 2
        graph.launch(stream)
        stream.synchronize()
    wx, ww, wb = (each.astype(np.float32) for each in arrays[:3])
    near(y, reference.conv_2d(2 * wx, ww, wb, activation="relu", **geometry), 2e-3)
