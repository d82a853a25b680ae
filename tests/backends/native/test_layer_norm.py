"""Gradients of layer normalization by our own kernel, against float64."""

import numpy as np
import pytest

from cvzoo.backends.native.library import why_no_native
from cvzoo.backends.native.plans import LayerNormPlan
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.native_primitive import NativePrimitive

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

EPS = 1e-3


@pytest.mark.parametrize(("rows", "c"), [(1, 1), (5, 3), (7, 64), (1003, 20), (130, 515), (4001, 96)])
def test_gradients_are_float64s(rows, c):
    rng = np.random.default_rng(0)
    x, gy = rng.random((2, rows, c), np.float32)
    gamma = rng.random(c, np.float32)
    mean, var = x.mean(1), x.var(1)
    results = set()
    for threads in (1, 2, 3):
        gx, (ggamma, gbeta) = gy.copy(), np.empty((2, c), np.float32)
        run = NativePrimitive("layer normalization", "layer_norm_grad", LayerNormPlan(rows, c, EPS), (0,) * 9)
        run._threads = threads
        run(x, gx, gx, mean, var, gamma, gamma, ggamma, gbeta)  # in the place of gy
        results.add((gx.tobytes(), ggamma.tobytes(), gbeta.tobytes()))
    inverse = 1 / np.sqrt(var.astype(np.float64) + EPS)[:, None]
    x_hat = (x.astype(np.float64) - mean[:, None]) * inverse
    g = gy * gamma.astype(np.float64)
    wanted = inverse * (g - g.mean(1, keepdims=True) - x_hat * (g * x_hat).mean(1, keepdims=True))
    np.testing.assert_allclose(gbeta, gy.sum(0, dtype=np.float64), rtol=4e-7)
    assert (np.abs(ggamma - (gy * x_hat).sum(0)) <= 4e-7 * np.abs(gy * x_hat).sum(0)).all()
    np.testing.assert_allclose(gx, wanted, rtol=1e-5, atol=1e-5)
    assert len(results) == 1
