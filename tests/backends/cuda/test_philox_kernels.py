"""A GPU's random numbers are those of the same generator in NumPy."""

import shutil

import ml_dtypes
import numpy as np
import pytest
from host_cuda import HostModule, thread_order
from host_cuda.module import ORDERS
from philox import philox_blocks, standard_normal, uniform_float32, uniform_float64

from cvzoo.backends.gpu_kernels import source

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
KEY = 0x0123456789ABCDEF
FIRST = 2**32 - 2  # the counter's carry is among the blocks
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


@pytest.fixture(scope="module")
def module():
    return HostModule(source("philox"))


def draw(module, kernel, dtype, n=517, base=None, rest=(), grid=2):
    out = np.full(n + 1, 7, dtype)
    args = (out, np.int64(n), np.uint64(KEY), np.uint64(FIRST), base, *rest)
    seen = []
    for order in ORDERS:
        with thread_order(order):
            module.launch(kernel, (grid, 1, 1), (64, 1, 1), args)
        seen.append(out.tobytes())
    assert len(set(seen)) == 1
    assert out[n] == 7
    return out[:n]


def test_words_have_the_same_bits(module):
    expected = philox_blocks(KEY, FIRST, 130).ravel()[:517]
    assert np.array_equal(draw(module, "philox_words", np.uint32), expected)
    assert np.array_equal(draw(module, "philox_words", np.uint32, grid=1), expected)


def test_a_base_on_the_device_is_added_to_the_place(module):
    base = np.uint64([12])
    assert np.array_equal(
        draw(module, "philox_words", np.uint32, base=base), philox_blocks(KEY, FIRST + 12, 130).ravel()[:517]
    )
    module.launch("philox_set", (1, 1, 1), (1, 1, 1), (base, np.uint64(2**63 + 5)))
    assert base[0] == 2**63 + 5


def test_uniform_numbers_have_the_same_bits(module):
    words = philox_blocks(KEY, FIRST, 300)
    assert np.array_equal(draw(module, "philox_uniform_f32", np.float32), uniform_float32(words).ravel()[:517])
    assert np.array_equal(draw(module, "philox_uniform_f64", np.float64), uniform_float64(words).ravel()[:517])


@pytest.mark.parametrize("suffix", DTYPES)
def test_normal_numbers_are_those_of_numpy(module, suffix):
    words = philox_blocks(KEY, FIRST, 300)
    uniform = uniform_float64(words) if suffix == "f64" else uniform_float32(words)
    found = draw(module, f"philox_normal_{suffix}", DTYPES[suffix])
    tolerance = {"f32": 2e-6, "f64": 1e-14, "f16": 1e-3, "bf16": 8e-3}[suffix]
    np.testing.assert_allclose(found.astype(float), standard_normal(uniform).ravel()[:517], rtol=tolerance, atol=1e-6)


@pytest.mark.parametrize("suffix", DTYPES)
def test_masks_keep_what_is_not_below_the_ratio(module, suffix):
    words = philox_blocks(KEY, FIRST, 300)
    words = words[:, :2] if suffix == "f64" else words
    expected = np.where(uniform_float32(words).ravel()[:517] >= np.float32(0.3), DTYPES[suffix](1 / 0.7), 0)
    found = draw(module, f"philox_kept_{suffix}", DTYPES[suffix], rest=(np.float32(0.3), np.float64(1 / 0.7)))
    assert np.array_equal(found, expected.astype(DTYPES[suffix]))
