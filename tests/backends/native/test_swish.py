"""Swish by our own kernel, against float64."""

import ctypes

import numpy as np
import pytest

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.native.library import native, why_no_native
from cvzoo.backends.native.plans import SwishPlan
from cvzoo.backends.numpy.memory import channels_last
from cvzoo.backends.onednn.bound_call import operation_of
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.primitives import local

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
REFERENCE = get_backend("numpy")
FAST = REFERENCE if REASON else get_backend("onednn")


def calls_of(function):
    """The result, and the kernels that computed it."""
    calls = []
    local.recorder = lambda primitive, arrays: calls.append(primitive)
    try:
        return function(), calls
    finally:
        local.recorder = None


def swish(x, alpha):
    """In float64."""
    x = x.astype(np.float64)
    return x / (1 + np.exp(-alpha * x))


@pytest.mark.parametrize("alpha", [1.0, 1.702, 0.25, 30.0])
@pytest.mark.parametrize("n", [2048, 2063, 40_001, 100_003])
def test_swish_is_float64s(n, alpha):
    x = np.linspace(-87 / alpha, 95 / alpha, n, dtype=np.float32)[None]
    y = FAST.eltwise("swish", x, alpha=alpha)
    # alpha * x is rounded, by which a large power of e changes
    rtol = 2.5e-7 if alpha in (1.0, 0.25) else 6e-6
    np.testing.assert_allclose(y, swish(x, np.float32(alpha).astype(np.float64)), rtol=rtol)


def test_what_is_too_small_or_too_large_ends_in_nothing_or_itself_and_nan_stays():
    x = np.zeros((1, 2050), np.float32)
    x[0, :9] = -np.inf, -1e38, -200, np.inf, 1e38, 200, np.nan, -0.0, 1e-40
    x[0, -1] = np.nan  # of the numbers that fill no register
    y = FAST.eltwise("swish", x, alpha=1.0)[0]
    assert (np.abs(y[:3]) < 1e-36).all()
    np.testing.assert_array_equal(y[3:6], x[0, 3:6])
    assert np.isnan(y[[6, -1]]).all()
    assert np.signbit(y[7])
    assert y[7] == 0
    np.testing.assert_allclose(y[8], 5e-41, rtol=1e-4)
    assert not y[9:-1].any()


def test_bits_do_not_depend_on_place_company_threads_or_memory_format():
    x = channels_last(np.random.default_rng(0).normal(0, 9, (3, 37, 41, 29)).astype(np.float32))
    y = FAST.eltwise("swish", x, alpha=1.0)
    assert y.strides == x.strides
    for k in range(3):
        np.testing.assert_array_equal(FAST.eltwise("swish", x[k : k + 1], alpha=1.0), y[k : k + 1])
    np.testing.assert_array_equal(FAST.eltwise("swish", np.ascontiguousarray(x), alpha=1.0), y)
    run = native().kernels["swish"]
    for threads in (1, 2, 3, 4):
        z = x.copy(order="K")
        arrays = (ctypes.c_void_p * 2)(numpy_address(z), numpy_address(z))
        assert run(ctypes.byref(SwishPlan(z.size, 1.0)), arrays, threads) == 0
        np.testing.assert_array_equal(z, y)


def test_registers_of_both_sizes_give_the_same_bits():
    library = ctypes.CDLL(native().path)
    if native().instructions != "avx512":
        pytest.skip("the CPU has no AVX-512, or it is not used")
    x = np.linspace(-100, 100, 70_001, dtype=np.float32)
    results = []
    for name in ("swish_avx512", "swish_avx2"):
        function = getattr(library, name)
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
        y = np.empty_like(x)
        plan = SwishPlan(x.size, 1.0)
        function(ctypes.addressof(plan), (ctypes.c_void_p * 2)(numpy_address(x), numpy_address(y)), 1)
        results.append(y)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(("c", "o", "side", "ksize"), [(32, 64, 12, 3), (8, 64, 12, 1), (64, 64, 3, 1)])
def test_a_convolution_with_swish_is_swish_of_a_convolution(c, o, side, ksize):
    rng = np.random.default_rng(0)
    x = channels_last(rng.normal(size=(2, c, side, side)).astype(np.float32))
    w, b = rng.normal(size=(o, c, ksize, ksize)).astype(np.float32), rng.normal(size=o).astype(np.float32)
    how = {"stride": (1, 1), "pad": (ksize // 2,) * 4, "dilate": (1, 1), "groups": 1, "winograd": True}
    y, calls = calls_of(lambda: FAST.conv_2d(x, w, b, **how, activation="swish", alpha=1.0))
    is_own = o * side * side >= 2048
    assert ("eltwise" in map(operation_of, calls)) == is_own
    plain = FAST.conv_2d(x, w, b, **how)
    if is_own:
        np.testing.assert_array_equal(y, FAST.eltwise("swish", plain, alpha=1.0))
    np.testing.assert_allclose(y, swish(plain, 1.0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("after", [[], [("add",)], [("linear", 2.0, 1.0), ("multiply",), ("swish", 1.0, 0.0)]])
@pytest.mark.parametrize("before", [[], [("multiply",), ("add",)]])
def test_a_chain_with_swish_has_the_bits_of_its_steps(before, after):
    rng = np.random.default_rng(0)
    steps = [*before, ("swish", 1.0, 0.0), *after]
    x, *others = (channels_last(rng.normal(size=(2, 16, 19, 21)).astype(np.float32)) for _ in range(len(steps) + 1))
    others = others[: sum(step[0] in ("add", "multiply") for step in steps)]
    y, rest = x, iter(others)
    for kind, *numbers in steps:
        if kind in ("add", "multiply"):
            y = FAST.chain(y, [(kind,)], [next(rest)])
        else:
            y = FAST.eltwise(kind, y, alpha=numbers[0], beta=numbers[1])
    np.testing.assert_array_equal(FAST.chain(x, steps, others), y)


def test_few_elements_of_an_image_and_other_alphas_are_left_to_others():
    _, calls = calls_of(lambda: FAST.eltwise("swish", np.ones((9, 2047), np.float32), alpha=1.0))
    assert calls == []
    x = np.linspace(-9, 9, 4096, dtype=np.float32)[None]
    for alpha in (0.0, -1.0):
        np.testing.assert_allclose(FAST.eltwise("swish", x, alpha=alpha), swish(x, alpha), rtol=1e-6, atol=1e-6)
