"""Users' kernels on a real GPU, where CuPy compiles them: what NumPy's reading of the same text gives."""

import pathlib

import numpy as np
import pytest
from neighbour import module_at
from on_device import assert_near, put

from cvzoo.backends import elementwise, reduce
from cvzoo.backends.cupy.library import cupy

tests = pathlib.Path(__file__).parents[1]
REDUCTION = module_at(tests / "backends/user_kernels/test_reduction.py")
A = np.random.default_rng(0).standard_normal((37, 1, 65)).astype("float32")
B = np.random.default_rng(1).standard_normal((5, 65)).astype("float32")


@pytest.fixture(autouse=True)
def compiler():
    if "ElementwiseKernel" not in vars(cupy()):
        pytest.skip("a made-up GPU compiles no kernels of users")


KERNELS = {
    "the tutorial's": (("float32 x, float32 y", "float32 w", "w = x * y + x", "gpu_muladd"), (A, B)),
    "two outputs": (("T x, T y", "T u, int32 v", "u = x - y; v = x > y", "gpu_two"), (A, B)),
    "functions": (("T x, T y", "T z", "z = exp(x) + pow(fabs(y), (T)1.5) + tanh(x)", "gpu_functions"), (A, B)),
    "a number": (("T x, T k", "T y", "y = x * k", "gpu_scaled"), (A, 3)),
    "whole numbers": (("int32 x", "int32 y", "y = x / 3 - x % 5", "gpu_whole"), (np.arange(-50, 50, dtype="int32"),)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_what_it_is_on_the_processor(name):
    text, arguments = KERNELS[name]
    kernel = elementwise(*text)
    wanted = kernel(*arguments)
    got = kernel(*(put(cupy(), x) if isinstance(x, np.ndarray) else x for x in arguments))
    for one, two in zip(got, wanted) if isinstance(wanted, tuple) else [(got, wanted)]:
        assert_near(one, two, 2e-6)


def test_raw_arrays_are_indexed_in_c_order():
    x = np.arange(12, dtype="float32").reshape(3, 4)
    kernel = elementwise("raw T x", "T y", "y = x[n - 1 - i]", "gpu_reverse")
    assert_near(kernel(cupy().asarray(x), size=12), x.reshape(-1)[::-1], 0)
    assert_near(kernel(cupy().asarray(x).T, size=12), x.T.reshape(-1)[::-1], 0)


def test_a_gpus_compiler_knows_branches_and_loops():
    x = cupy().asarray(A)
    loop = elementwise("T x", "T y", "y = 0; for (int k = 0; k < 5; ++k) { if (k > 0) y += x * k; }", "gpu_loop")
    assert_near(loop(x), A * 10, 2e-6)


def test_outputs_may_be_given():
    out = cupy().full((4,), 7, "float32")
    got = elementwise("T x", "T y", "y += x", "gpu_accumulate")(cupy().ones(4, "float32"), out)
    assert got is out
    assert out.get().tolist() == [8] * 4


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (1, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_a_reduction_is_what_it_is_on_the_processor(axis, keepdims):
    norm = reduce(*REDUCTION.NORM)
    for x in (REDUCTION.X, np.tile(REDUCTION.X, (40, 1, 30))):
        assert_near(norm(cupy().asarray(x), axis=axis, keepdims=keepdims), norm(x, axis=axis, keepdims=keepdims), 1e-5)


def test_a_reduction_of_nothing_gives_the_identity():
    norm = reduce(*REDUCTION.NORM)
    assert norm(cupy().zeros((3, 0, 7), "float32"), axis=1).get().tolist() == np.zeros((3, 7)).tolist()
