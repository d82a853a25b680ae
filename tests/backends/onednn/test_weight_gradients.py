"""Filters of one pixel that go in steps: their gradients are right, again and again, on every processor."""

import os
import subprocess
import sys

import pytest

from cvzoo.backends.onednn.library import why_no_onednn

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

LEARN = """
import itertools
import numpy as np
from cvzoo.backends.onednn import conv
from cvzoo.backends.onednn.primitives import implementation

planned, plan = [], conv.primitive_descriptor

def watched(operation, *arguments):
    made = plan(operation, *arguments)
    if operation == "convolution_backward_weights" and made:
        planned.append((implementation(made), list(arguments[5])[:2]))
    return made

conv.primitive_descriptor = watched
rng = np.random.default_rng(0)
sizes = [(6, 8, 32), (4, 16, 64), (3, 24, 16), (1, 1, 8), (16, 24, 30), (65, 130, 12), (5, 8, 9)]
for (c, o, size), stride in itertools.product(sizes, [(2, 2), (1, 2), (3, 3), (2, 1)]):
    x = rng.standard_normal((3, size, size, c), np.float32).transpose(0, 3, 1, 2)
    seen = x[:, :, :: stride[0], :: stride[1]]
    gy = rng.standard_normal((3, *seen.shape[2:], o), np.float32).transpose(0, 3, 1, 2)
    window = {"stride": stride, "pad": (0, 0, 0, 0), "dilate": (1, 1), "groups": 1}
    gws = [conv.conv_2d_weight_grad(x, gy, (1, 1), **window) for _ in range(4)]
    assert len({gw.tobytes() for gw in gws}) == 1, (c, o, size, stride)
    expected = np.tensordot(gy.astype("d"), seen.astype("d"), ((0, 2, 3), (0, 2, 3)))
    terms = np.tensordot(np.abs(gy), np.abs(seen), ((0, 2, 3), (0, 2, 3)))
    assert (np.abs(gws[0][:, :, 0, 0] - expected) <= 1e-6 * terms).all(), (c, o, size, stride)
assert not [each for each in planned if each[0].startswith("jit_1x1") and each[1] != [1, 1]], planned
print(len(planned), sorted({name for name, _ in planned}))
"""


@pytest.mark.parametrize("isa", ["AVX2", "ALL"])
def test_filters_that_skip_pixels_learn_the_same_bits_and_the_right_ones(isa):
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": isa, "CVZOO_NUM_THREADS": "2"}
    # threads of a kernel that wrote beyond its memory wait for each other for ever
    result = subprocess.run(
        [sys.executable, "-c", LEARN], env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout.split()[0]) > 0, result.stdout
