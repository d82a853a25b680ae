"""Convolutions of bytes on processors that have instructions for them and no AVX-512."""

import os
import subprocess
import sys

import pytest

from cvzoo.backends.onednn.library import why_no_onednn

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

ADD = """
import numpy as np
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.onednn import backend as onednn_backend

rng = np.random.default_rng(0)
window = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1)}
for c in (1, 6, 8, 12, 23, 33):
    x = rng.integers(0, 256, (2, 9, 9, c), np.uint8).transpose(0, 3, 1, 2)
    w, scale = rng.integers(-127, 128, (c, 1, 3, 3), np.int8), np.full(c, 1e-3, np.float32)
    for add, how in (
        (rng.standard_normal(x.shape, np.float32), {}),
        (rng.integers(0, 256, x.shape, np.uint8), {"add_scale": 0.25, "activation": "relu"}),
    ):
        y, expected = (
            backend.conv_2d_int8(x, w, scale, None, add=add, groups=c, **window, **how)
            for backend in (onednn_backend, numpy_backend)
        )
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-4, err_msg=str(c))
"""


def test_a_sum_reaches_every_channel_of_filters_of_one_channel():
    # where there is no such processor, the library takes the next lower instructions
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2_VNNI"}
    result = subprocess.run(
        [sys.executable, "-c", ADD], env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert result.returncode == 0, result.stderr
