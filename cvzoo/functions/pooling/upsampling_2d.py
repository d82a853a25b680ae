"""Max unpooling, and its gradient, the gathering of pixels at indices."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import to_device_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.shapes.check import pair
from cvzoo.shapes.sizes import deconv_out_size, pads
from cvzoo.typing.aliases import Array


class Upsampling2D(FunctionNode):
    """x (B, C, OH, OW) to (B, C, *size): x's pixels are added to zeros at `indices` (B, C, OH, OW) of each plane."""

    in_float32 = True

    def __init__(self, indices: Any, size: Sequence[int]):
        self._indices = indices
        self._size = (int(size[0]), int(size[1]))

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        return (backend_of(x).upsampling_2d(x, self._indices, self._size),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return PickPixels(self._indices).apply(gys)


class PickPixels(FunctionNode):
    """x (B, C, H, W) to the pixels (B, C, OH, OW) at `indices` of each plane."""

    in_float32 = True

    def __init__(self, indices: Any):
        self._indices = indices

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self._size = x.shape[2:]
        return (backend_of(x).upsampling_2d_grad(x, self._indices),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return Upsampling2D(self._indices, self._size).apply(gys)


def upsampling_2d(
    x: Variable | Array,
    indices: Any,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    outsize: Sequence[int] | None = None,
) -> Variable:
    """Max unpooling: (B, C, H, W) zeros with x's pixels at the indices of a max pooling; duplicates are added.

    x: (B, C, OH, OW)
    indices: (B, C, OH, OW) integers, row * W + column, as max_pooling_2d(..., return_indices=True) gives
    ksize, stride, pad: those of the pooling; they give the size where outsize does not
    outsize: (H, W) of the pooled array; required if the windows did not cover it exactly, since `indices` are invalid
        for a plane of another width
    Raises ShapeError if shapes differ, DtypeError if indices are not integers, ValueRangeError if one is outside; on a
    GPU they are not checked, and pixels outside are ignored.
    Where we differ: Chainer's indices are within each window, ours within the plane.
    """
    x = as_variable(x)
    indices = as_array(indices)
    backend_of(indices)
    if x.ndim != 4 or indices.shape != x.shape:
        raise ShapeError(
            "upsampling_2d: x and indices must have one shape",
            expected="(B, C, OH, OW) both",
            got=f"x {x.shape}, indices {indices.shape}",
        )
    if indices.dtype.kind not in "iu":
        raise DtypeError("upsampling_2d: indices must be integers", got=indices.dtype)
    if outsize is None:
        kh, kw = pair(ksize, name="ksize", function="upsampling_2d")
        sy, sx = (kh, kw) if stride is None else pair(stride, name="stride", function="upsampling_2d")
        top, bottom, left, right = pads(pad, function="upsampling_2d")
        outsize = (
            deconv_out_size(x.shape[2], kh, sy, top, bottom),
            deconv_out_size(x.shape[3], kw, sx, left, right),
        )
    h, w = pair(outsize, name="outsize", function="upsampling_2d")
    indices = to_device_of(indices, x.array)
    extremes = range_of(indices)
    if extremes and not (extremes[0] >= 0 and extremes[1] < h * w):
        raise ValueRangeError(
            "upsampling_2d: an index is outside of the plane",
            expected=f"0 to {h * w - 1} for outsize {(h, w)}",
            got=f"{extremes[0]} to {extremes[1]}",
            hint="outsize=x.shape[2:] of what was pooled",
        )
    return Upsampling2D(indices, (h, w)).apply((x,))[0]
