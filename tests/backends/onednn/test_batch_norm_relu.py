"""Batch normalization with a rectifier behind it learns as the two do apart, to the bit, on every processor.

Compiled networks join them, and compare what they learn with the networks as written.
"""

import os
import subprocess
import sys

import pytest

from cvzoo.backends.onednn.library import why_no_onednn

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

TOGETHER_AND_APART = """
import numpy as np
from cvzoo.backends.onednn import backend as onednn_backend

fast, rng = onednn_backend, np.random.default_rng(0)
for h, c in ((12, 5), (12, 8), (12, 48), (47, 5), (47, 48)):
    x, gy = (rng.standard_normal((4, h, 11, c), np.float32).transpose(0, 3, 1, 2) for _ in range(2))
    gamma, beta = rng.standard_normal((2, c), np.float32)
    y, mean, var, mask = fast.batch_norm_relu_train(x, gamma, beta, eps=1e-5)
    grads = fast.batch_norm_relu_grad(gy, x, gamma, mean, var, mask, eps=1e-5)
    apart, *statistics = fast.batch_norm_train(x, gamma, beta, eps=1e-5)
    np.testing.assert_array_equal(y, np.maximum(apart, 0))
    np.testing.assert_array_equal((mean, var), statistics)
    expected = fast.batch_norm_grad(gy * (apart > 0), x, gamma, mean, var, eps=1e-5)
    for g, e in zip(grads, expected):
        np.testing.assert_array_equal(g, e)
"""


@pytest.mark.parametrize("isa", ["SSE41", "AVX2", "ALL"])
def test_a_rectifier_joined_to_a_normalization_changes_no_bit(isa):
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": isa}
    result = subprocess.run(
        [sys.executable, "-c", TOGETHER_AND_APART],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert result.returncode == 0, result.stderr
