"""Gradients of depthwise filters by our own kernel, against NumPy's in float64."""

import numpy as np
import pytest

from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.native.library import why_no_native
from cvzoo.backends.native.plans import DepthwisePlan
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.memory import channels_last
from cvzoo.backends.onednn.native_primitive import NativePrimitive

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

CASES = {  # shape of x, filter, step, padding, dilation
    "5 x 5": ((2, 40, 33, 34), (5, 5), (1, 1), (2, 2, 2, 2), (1, 1)),
    "3 x 3": ((2, 17, 9, 40), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
    "7 x 7 on a small map": ((3, 33, 4, 3), (7, 7), (1, 1), (3, 3, 3, 3), (1, 1)),
    "steps, odd padding": ((2, 24, 30, 31), (4, 5), (2, 3), (1, 2, 3, 0), (1, 1)),
    "dilated": ((1, 64, 40, 41), (5, 3), (1, 1), (4, 4, 2, 2), (2, 2)),
    "3 channels": ((2, 3, 20, 151), (5, 5), (1, 1), (2, 2, 2, 2), (1, 1)),
    "3 channels on a small map": ((3, 3, 4, 3), (7, 7), (1, 1), (3, 3, 3, 3), (1, 1)),
    "6 channels, dilated, steps down": ((1, 6, 40, 41), (5, 8), (2, 1), (4, 4, 2, 5), (2, 3)),
    "no padding": ((1, 3, 70, 90), (2, 8), (1, 2), (0, 0, 0, 0), (1, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_gradient_is_float64s(name):
    shape, size, stride, pad, dilate = CASES[name]
    rng = np.random.default_rng(0)
    out = [
        (n + pad[2 * k] + pad[2 * k + 1] - dilate[k] * (size[k] - 1) - 1) // stride[k] + 1
        for k, n in enumerate(shape[2:])
    ]
    x, gy = (channels_last(rng.random((*shape[:2], *each), np.float32) + np.float32(0.5)) for each in (shape[2:], out))
    window = {"stride": stride, "pad": pad, "dilate": dilate, "groups": shape[1]}
    want = get_backend("numpy").conv_2d_weight_grad(x.astype(np.float64), gy.astype(np.float64), size, **window)
    results = set()
    for threads in (1, 2, 3):
        gw = np.full((shape[1], 1, *size), np.nan, np.float32)
        plan = DepthwisePlan(*shape, *out, *size, *stride, *dilate, pad[0], pad[2])
        run = NativePrimitive("convolution", "depthwise_weight_grad", plan, (0,) * 3)
        run._threads = threads
        run(x, gy, gw)
        results.add(gw.tobytes())
    np.testing.assert_allclose(gw, want, rtol=4e-7)
    assert len(results) == 1
