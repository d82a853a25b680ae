"""Checks of the window that all pooling functions share."""

import functools
from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.shapes.check import pair
from cvzoo.shapes.sizes import conv_out_size, end_pad, pads

Sizes = int | Sequence[int]


@functools.lru_cache(1024, typed=True)
def _cached_window(
    function: str, h: int, w: int, ksize: Sizes, stride: Sizes | None, pad: Sizes, cover_all: bool
) -> dict[str, Any]:
    kh, kw = pair(ksize, name="ksize", function=function)
    sy, sx = (kh, kw) if stride is None else pair(stride, name="stride", function=function)
    if min(kh, kw, sy, sx) < 1:
        raise ValueRangeError(f"{function}: ksize and stride must be at least 1", got=f"{ksize!r}, {stride!r}")
    top, bottom, left, right = pads(pad, function=function)
    if cover_all:
        bottom = end_pad(h, kh, sy, top, bottom)
        right = end_pad(w, kw, sx, left, right)
    conv_out_size(h, kh, sy, top, bottom)
    conv_out_size(w, kw, sx, left, right)
    return {"ksize": (kh, kw), "stride": (sy, sx), "pad": (top, bottom, left, right)}


def pool_window(
    x: Variable, ksize: Sizes, stride: Sizes | None, pad: Sizes, cover_all: bool, *, function: str
) -> dict[str, Any]:
    """ksize, stride and pad as the kernels' arguments, for x (B, C, H, W).

    stride: None for ksize
    cover_all: the padding at the end is made large enough for one place more where pixels would be left over
    Raises ShapeError if x is not 4-D or the window does not fit, DtypeError if x is not floating.
    """
    shape = x.shape
    if len(shape) != 4:
        hint = "x[None] makes a batch of one image" if len(shape) == 3 else None
        raise ShapeError(f"{function}: x must be 4-D", expected="(B, C, H, W)", got=shape, hint=hint)
    if not is_float(x.dtype):
        raise DtypeError(f"{function}: x must be floating", got=x.dtype, hint="x.astype('float32')")
    try:
        return _cached_window(function, shape[2], shape[3], ksize, stride, pad, cover_all)
    except TypeError as error:
        if isinstance(error, DtypeError):
            raise
        plain = [tuple(v) if isinstance(v, list) else v for v in (ksize, stride, pad)]
        return _cached_window.__wrapped__(function, shape[2], shape[3], *plain, cover_all)
