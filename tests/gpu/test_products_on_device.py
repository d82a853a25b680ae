"""cuBLAS and the convolutions made of it on a real GPU, against NumPy: the tables of the made-up GPU's tests."""

import itertools
import pathlib

import numpy as np
import pytest
from neighbour import module_at

from cvzoo.backends.cupy.library import cupy, why_no_cupy

REASON = why_no_cupy()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

TESTS = pathlib.Path(__file__).parents[1]
conv = module_at(TESTS / "backends/cupy/test_conv.py")
matmul = module_at(TESTS / "backends/cupy/test_matmul.py")
quantized = module_at(TESTS / "backends/cupy/test_quantized.py")
DTYPES = ("float32", "float64", "float16", conv.BF16)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", conv.CONVS, ids=str)
def test_convolutions_agree(case, dtype):
    conv.test_convolutions_agree(case, np.dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shapes", matmul.MATRICES, ids=str)
def test_products_agree(shapes, dtype):
    matmul.test_products_of_matrices_agree(shapes, np.dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_linear_layers_agree(dtype):
    for n, has_bias in itertools.product((0, 1, 3, 64), (False, True)):
        matmul.test_linear_layers_agree(n, has_bias, np.dtype(dtype))


@pytest.mark.parametrize("mode", ["float32", "tf32"])
@pytest.mark.parametrize("case", quantized.CONVS, ids=str)
def test_convolutions_of_bytes_have_the_same_bits(case, mode):
    for signed in (False, True):
        quantized.test_convolutions_of_bytes_have_the_same_bits(case, signed, mode)


def test_large_products_are_true_float32_unless_tf32_is_asked_for():
    generator = np.random.default_rng(0)
    a, b = (generator.standard_normal((512, 512)).astype(np.float32) for _ in range(2))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    gpu = matmul.GPU
    errors = {}
    for mode in ("float32", "tf32"):
        with matmul.using_config("dtype", mode):
            got = gpu.matmul(gpu.asarray(a), gpu.asarray(b)).get()
        errors[mode] = np.abs(got - exact).max() / np.abs(exact).max()
    assert errors["float32"] < 2e-6
    assert errors["tf32"] < 3e-3
    if int(cupy().cuda.Device().compute_capability) >= 80:
        assert errors["tf32"] > 5 * errors["float32"]


def test_the_same_call_gives_the_same_bits():
    generator = np.random.default_rng(0)
    x, w, gy = (
        generator.standard_normal(s).astype(np.float32) for s in ((4, 64, 28, 28), (64, 64, 3, 3), (4, 64, 28, 28))
    )
    how = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    dx, dw, dgy = conv.on_gpu(x, w, gy)
    for method, arguments in (
        (conv.GPU.conv_2d, (dx, dw, None)),
        (conv.GPU.conv_2d_input_grad, (dgy, dw, (28, 28))),
        (conv.GPU.conv_2d_weight_grad, (dx, dgy, (3, 3))),
    ):
        first, *others = [method(*arguments, **how).get() for _ in range(4)]
        for other in others:
            np.testing.assert_array_equal(other, first)
