"""Arrays carried to a GPU, real or made up, with their order in memory."""

import numpy as np


def put(cp, x):
    """x on the current device; its axes follow each other in memory as they do on the host."""
    x = np.asarray(x)
    order = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    return cp.asarray(x.transpose(order).copy("C")).transpose(np.argsort(order).tolist())


def assert_near(got, wanted, tolerance, *, scale=None):
    """got, of the device, has wanted's shape and dtype, and its numbers to `tolerance` of the largest (or of scale)."""
    assert type(got).__module__.split(".")[0] != "numpy"
    got = got.get()
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    got, wanted = got.astype("float64"), wanted.astype("float64")
    if scale is None:
        scale = max(np.abs(wanted[np.isfinite(wanted)]).max(initial=0), 1e-30)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale)
