"""Quantization of floats to int8."""

from typing import Any

import numpy as np

from cvzoo.backends.cuda.elementwise import elementwise
from cvzoo.backends.cupy.library import cupy

# rint() rounds half to even; what is no number becomes 0
_BODY = "T z = ew_clip(rint(x0 * n0), n1, n2); y = z == z ? {0}(z) : {0}(0);"


def quantize(x: Any, *, scale: float, signed: bool) -> Any:
    """See `AbstractBackend.quantize`; NaN becomes 0."""
    xp = cupy()
    dtype, low, high = (np.int8, -128, 127) if signed else (np.uint8, 0, 255)
    if x.ndim == 4:
        b, c, h, w = x.shape
        y = xp.empty((b, h, w, c), dtype).transpose(0, 3, 1, 2)
    else:
        y = xp.empty(x.shape, dtype)
    factor = np.float32(1) / np.float32(scale)
    name, body = ("quantize_signed", _BODY.format("i8")) if signed else ("quantize", _BODY.format("u8"))
    return elementwise(name, body, (x.astype(np.float32, copy=False),), numbers=(float(factor), low, high), out=y)
