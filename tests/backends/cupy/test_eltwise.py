"""Functions element by element on a GPU give the processor's numbers: every kind, dtype and special value."""

import numpy as np
import pytest
from on_device import assert_near, put

from cvzoo.backends.abstract import ELTWISE_KINDS, FROM_OUTPUT_KINDS
from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.errors.exceptions import ValueRangeError

ml_dtypes = pytest.importorskip("ml_dtypes")
CPU, GPU = numpy_backend, cupy_backend
TOLERANCES = {"float32": 4e-6, "float64": 1e-13, "float16": 2e-3, ml_dtypes.bfloat16: 2e-2}
SETTINGS = {"alpha": 0.7, "beta": 0.9}
DTYPES = [
    pytest.param(dtype, marks=[] if dtype == "float32" else pytest.mark.slow, id=np.dtype(dtype).name)
    for dtype in TOLERANCES
]


@pytest.fixture
def gpu(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def numbers(dtype):
    x = np.random.default_rng(0).standard_normal(40) * 3
    x[:8] = [np.nan, np.inf, -np.inf, 0, -0.0, 0.7, 0.9, 30]
    return x.astype(dtype).reshape(5, 8)


@pytest.mark.parametrize("kind", ELTWISE_KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_and_derivatives(gpu, kind, dtype):
    tolerance, x = TOLERANCES[dtype], numbers(dtype)
    gy = numbers(dtype)[::-1].copy()
    on_device, gy_there = put(gpu.cupy, x), put(gpu.cupy, gy)
    assert_near(GPU.eltwise(kind, on_device, **SETTINGS), CPU.eltwise(kind, x, **SETTINGS), tolerance, scale=1)
    got = GPU.eltwise_grad(kind, gy_there, on_device, **SETTINGS)
    assert_near(got, CPU.eltwise_grad(kind, gy, x, **SETTINGS), tolerance, scale=30)
    if kind in FROM_OUTPUT_KINDS:
        got = GPU.eltwise_grad_from_output(kind, gy_there, on_device, **SETTINGS)
        assert_near(got, CPU.eltwise_grad_from_output(kind, gy, x, **SETTINGS), tolerance, scale=30)


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float64"], ids=str)
def test_other_floats(gpu, dtype):
    x, tolerance = numbers(dtype), TOLERANCES[dtype]
    for kind in ("gelu_erf", "swish"):
        got = GPU.eltwise(kind, put(gpu.cupy, x), **SETTINGS)
        assert_near(got, CPU.eltwise(kind, x, **SETTINGS), tolerance, scale=1)


def test_integers_are_what_numpy_makes_of_them(gpu):
    for dtype in ("int32", "int8"):
        x = np.arange(-5, 7).astype(dtype).reshape(3, 4)
        for kind in ("relu", "square", "abs", "exp", "sigmoid", "clip"):
            assert_near(GPU.eltwise(kind, put(gpu.cupy, x), **SETTINGS), CPU.eltwise(kind, x, **SETTINGS), 1e-3)


def test_sums_and_products(gpu):
    a, b = numbers("float32")[1:], numbers("float32")[2:3]
    there = [put(gpu.cupy, each) for each in (a, b)]
    assert_near(GPU.add(*there), a + b, 1e-6)
    assert_near(GPU.multiply(*there), a * b, 1e-6)
    assert_near(GPU.add_relu(there[0], there[0]), np.maximum(a + a, 0), 1e-6)
    counts = np.arange(6, dtype="int32").reshape(2, 3)
    assert_near(GPU.add(put(gpu.cupy, counts), put(gpu.cupy, counts[0])), counts + counts[0], 0)
    assert_near(GPU.multiply(put(gpu.cupy, counts), put(gpu.cupy, counts)), counts * counts, 0)
    out = there[0].copy()
    assert GPU.add(out, there[1], out=out) is out
    assert_near(out, a + b, 1e-6)


def test_a_kind_that_is_none_is_named(gpu):
    with pytest.raises(ValueRangeError, match="softmin"):
        GPU.eltwise("softmin", gpu.cupy.zeros(3, "float32"))
    with pytest.raises(ValueRangeError, match="softmin"):
        GPU.chain(gpu.cupy.zeros(3, "float32"), [("softmin", 0, 0)], [])
