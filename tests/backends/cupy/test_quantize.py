"""Bytes that count in a scale, on a GPU, are the processor's."""

import numpy as np
import pytest
from on_device import put

from cvzoo.backends.cupy.quantized import quantize
from cvzoo.backends.numpy.quantized import quantize as numpy_quantize


@pytest.fixture
def gpu(fake_gpu):
    with fake_gpu() as machine:
        yield machine


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (2, 16, 3, 4), (11,), (3, 4), (0, 2)], ids=str)
def test_bytes(gpu, shape, signed):
    x = (np.random.default_rng(0).standard_normal(shape) * 50).astype("float32")
    x.reshape(-1)[:6] = [0.125, 0.375, 0.625, 1e30, -np.inf, np.inf][: x.size]  # halves, and what does not fit
    y = quantize(put(gpu.cupy, x), scale=0.25, signed=signed)
    wanted = numpy_quantize(x, scale=0.25, signed=signed)
    assert (y.dtype, y.strides) == (wanted.dtype, wanted.strides)
    np.testing.assert_array_equal(y.get(), wanted)


def test_what_is_no_number_is_zero(gpu):
    x = np.array([np.nan, 1], "float32")
    np.testing.assert_array_equal(quantize(put(gpu.cupy, x), scale=1.0, signed=True).get(), [0, 1])
