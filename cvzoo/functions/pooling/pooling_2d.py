"""Max and average pooling of maps: over windows, global, and over a pyramid of grids."""

import functools
from collections.abc import Sequence
from typing import Any, Literal, overload

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.backends.interface import State
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.array.concat import concat
from cvzoo.functions.connection.byte_variable import ByteVariable, Counting
from cvzoo.shapes.check import pair
from cvzoo.shapes.sizes import conv_out_size, end_pad, pads
from cvzoo.typing.aliases import Array, ArrayModule

Sizes = int | Sequence[int]


# a layer passes the same settings in every call; typed, since True equals 1 but is refused
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
    cover_all: the padding at the end is enlarged for one more window if pixels would remain uncovered
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
        # lists and arrays cannot be keys of the cache
        plain = [tuple(v) if isinstance(v, list) else v for v in (ksize, stride, pad)]
        return _cached_window.__wrapped__(function, shape[2], shape[3], *plain, cover_all)


def keeps_bytes(window: dict[str, Any]) -> bool:
    """Whether maxima of int8 values are those of what they mean: not of a window that is entirely in the padding."""
    return all(pad < window["ksize"][k // 2] for k, pad in enumerate(window["pad"]))


class MaxPooling2D(FunctionNode):
    """x (B, C, H, W) to (B, C, OH, OW).

    window: as of `pool_window`; keep: whether the state for a gradient is stored
    """

    def __init__(self, window: dict[str, Any], keep: bool):
        self._window = window
        self._keep = keep

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        y, self._saved = backend_of(x).max_pool_2d(x, keep=self._keep, **self._window)
        # x is only needed for a second derivative; retaining it is free if the function before (a ReLU) does so, too
        self.retain_inputs((0,))
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        # without a second derivative x's memory may be freed
        again = x.array if switches.enable_backprop else None
        return MaxPooling2DGrad(self._window, self._saved, x.shape, again).apply(gys)


class MaxPooling2DGrad(FunctionNode):
    """gy (B, C, OH, OW) to gx (B, C, H, W). It is linear in gy, for fixed indices of the maxima.

    saved: what the forward kernel saved; x: the pooled array, for a second derivative
    """

    def __init__(self, window: dict[str, Any], saved: State, x_shape: tuple[int, ...], x: Array | None):
        self._window = window
        self._saved = saved
        self._x_shape = x_shape
        self._x = x

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (gy,) = inputs
        return (backend_of(gy).max_pool_2d_grad(gy, self._saved, self._x_shape, **self._window),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        assert self._x is not None  # retained if there may be a second derivative
        indices = backend_of(self._x).max_pool_2d_indices(self._x, **self._window)
        picked = PickPixels(indices).apply(gys)[0]
        # a window entirely in the padding has index 0, which it does not contain
        is_inside = _overlaps_image(backend_of(self._x).xp, self._x_shape[2:], indices.shape[2:], self._window)
        return (picked if is_inside is None else MaskPixels(is_inside).apply((picked,))[0],)


class MaxPlaces(FunctionNode):
    """x (B, C, H, W) to (B, C, OH, OW) int64: where the maxima are."""

    def __init__(self, window: dict[str, Any]):
        self._window = window

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (backend_of(x).max_pool_2d_indices(x, **self._window),)


class MaskPixels(FunctionNode):
    """x (B, C, H, W) times a mask (H, W)."""

    def __init__(self, mask: Array):
        self._mask = mask

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (x * self._mask,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return MaskPixels(self._mask).apply(gys)


class Upsampling2D(FunctionNode):
    """x (B, C, OH, OW) to (B, C, *size): x's pixels are added to zeros at `indices` (B, C, OH, OW) of each plane."""

    in_float32 = True

    def __init__(self, indices: Array, size: Sequence[int]):
        self._indices = indices
        self._size = (int(size[0]), int(size[1]))

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (backend_of(x).upsampling_2d(x, self._indices, self._size),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return PickPixels(self._indices).apply(gys)


class PickPixels(FunctionNode):
    """x (B, C, H, W) to the pixels (B, C, OH, OW) at `indices` of each plane."""

    in_float32 = True

    def __init__(self, indices: Array):
        self._indices = indices

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        self._size = x.shape[2:]
        return (backend_of(x).upsampling_2d_grad(x, self._indices),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return Upsampling2D(self._indices, self._size).apply(gys)


def _overlaps_image(
    xp: ArrayModule, size: Sequence[int], out_size: Sequence[int], window: dict[str, Any]
) -> Array | None:
    """(OH, OW) bool: whether a window contains more than padding; None if all do."""
    rows = []
    for axis in (0, 1):
        start = xp.arange(out_size[axis]) * window["stride"][axis] - window["pad"][2 * axis]
        rows.append((start + window["ksize"][axis] > 0) & (start < size[axis]))
    is_inside = rows[0][:, None] & rows[1]
    return None if is_inside.all() else is_inside


@overload
def max_pooling_2d(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: Literal[False] = False,
) -> Variable: ...
@overload
def max_pooling_2d(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: Literal[True],
) -> tuple[Variable, Array]: ...
def max_pooling_2d(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: bool = False,
) -> Variable | tuple[Variable, Array]:
    """The maximum of each window: (B, C, OH, OW), and the indices of the maxima if asked for.

    x: (B, C, H, W)
    ksize: a number or (rows, columns)
    stride: likewise; None for ksize, so that windows touch
    pad: never a maximum; a number, (rows, columns) or (top, bottom, left, right)
    cover_all: one more window at the end if it would cover remaining pixels (Caffe's ceil mode)
    return_indices: also (B, C, OH, OW) int64, row * W + column in the plane, the first of equals (0 where a window
        is entirely in the padding, with the maximum -inf)
    A window with a NaN gives NaN with NumPy; oneDNN ignores NaN.
    Raises ShapeError if x is not 4-D or the window does not fit.
    """
    x = as_variable(x)
    window = pool_window(x, ksize, stride, pad, cover_all, function="max_pooling_2d")
    if isinstance(x, ByteVariable) and not return_indices:
        held = x.held()
        if held is not None and isinstance(held[1], Counting) and keeps_bytes(window):
            return ByteVariable(MaxPooling2D(window, False).apply((held[0],))[0], held[1])
    y = MaxPooling2D(window, x.requires_grad and switches.enable_backprop).apply((x,))[0]
    if return_indices:
        if not switches.enable_backprop:
            return y, backend_of(x.array).max_pool_2d_indices(x.array, **window)
        return y, MaxPlaces(window).apply((as_array(x),))[0].array  # a function, for captured graphs
    return y


def global_max_pooling_2d(x: Variable | Array) -> Variable:
    """The maximum of each channel of x (B, C, H, W): (B, C).

    Raises ShapeError if x is not 4-D, ValueRangeError if it has no pixels.
    """
    x = as_variable(x)
    window = pool_window(x, x.shape[2:], 1, 0, False, function="global_max_pooling_2d")
    y = MaxPooling2D(window, x.requires_grad and switches.enable_backprop).apply((x,))[0]
    return reshape(y, x.shape[:2])


class AveragePooling2D(FunctionNode):
    """x (B, C, H, W) to (B, C, OH, OW)."""

    def __init__(self, window: dict[str, Any], count_pad: bool):
        self._window = window
        self._count_pad = count_pad

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        self._size = x.shape[2:]
        return (backend_of(x).average_pool_2d(x, count_pad=self._count_pad, **self._window),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return AveragePooling2DGrad(self._window, self._count_pad, self._size).apply(gys)


class AveragePooling2DGrad(FunctionNode):
    """gy (B, C, OH, OW) to gx (B, C, *size)."""

    def __init__(self, window: dict[str, Any], count_pad: bool, size: Sequence[int]):
        self._window = window
        self._count_pad = count_pad
        self._size = tuple(size)

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (gy,) = inputs
        shape = gy.shape[:2] + self._size
        return (backend_of(gy).average_pool_2d_grad(gy, shape, count_pad=self._count_pad, **self._window),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return AveragePooling2D(self._window, self._count_pad).apply(gys)


def average_pooling_2d(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    *,
    count_pad: bool = True,
    cover_all: bool = False,
) -> Variable:
    """The mean of each window: (B, C, OH, OW).

    x: (B, C, H, W)
    ksize: a number or (rows, columns)
    stride: likewise; None for ksize, so that windows touch
    pad: zeros around x; a number, (rows, columns) or (top, bottom, left, right)
    count_pad: padded zeros count in the mean; else each sum is divided by the number of pixels in the window
    cover_all: one more window at the end if it would cover remaining pixels
    Raises ShapeError if x is not 4-D or the window does not fit.
    """
    x = as_variable(x)
    window = pool_window(x, ksize, stride, pad, cover_all, function="average_pooling_2d")
    return AveragePooling2D(window, count_pad).apply((x,))[0]


def global_average_pooling_2d(x: Variable | Array) -> Variable:
    """The mean of each channel of x (B, C, H, W): (B, C).

    Raises ShapeError if x is not 4-D, ValueRangeError if it has no pixels.
    """
    x = as_variable(x)
    window = pool_window(x, x.shape[2:], 1, 0, False, function="global_average_pooling_2d")
    return reshape(AveragePooling2D(window, True).apply((x,))[0], x.shape[:2])


def _windows(size: int, n: int) -> tuple[int, int, int]:
    """ksize and padding (before, after) of n windows that touch and cover `size` pixels."""
    ksize = -(-size // n)
    extra = ksize * n - size
    return ksize, extra // 2, extra - extra // 2


def spatial_pyramid_pooling_2d(x: Variable | Array, pyramid_height: int) -> Variable:
    """(B, C * (4 ** pyramid_height - 1) / 3, 1, 1): level l holds each channel's maxima over 2**l x 2**l windows.

    x: (B, C, H, W)
    Raises ShapeError if x is not 4-D or so small that a window of the last level would contain only padding.
    Source: He et al., "Spatial Pyramid Pooling in Deep Convolutional Networks for Visual Recognition", 2014. Where we
    differ: windows touch, with padding on both sides (as in Chainer), instead of overlapping.
    """
    x = as_variable(x)
    if pyramid_height < 1:
        raise ValueRangeError("spatial_pyramid_pooling_2d: pyramid_height must be at least 1", got=pyramid_height)
    if x.ndim != 4:
        raise ShapeError("spatial_pyramid_pooling_2d: x must be 4-D", expected="(B, C, H, W)", got=x.shape)
    levels = []
    for level in range(pyramid_height):
        n = 2**level
        kh, top, bottom = _windows(x.shape[2], n)
        kw, left, right = _windows(x.shape[3], n)
        if max(top, bottom) >= kh or max(left, right) >= kw:
            raise ShapeError(
                f"spatial_pyramid_pooling_2d: {n} windows do not share out {x.shape[2:]} pixels so that each sees some",
                got=x.shape,
                hint=f"pyramid_height={level}, or a larger image",
            )
        y = max_pooling_2d(x, (kh, kw), pad=(top, bottom, left, right), cover_all=False)
        levels.append(reshape(y, (x.shape[0], x.shape[1] * n * n, 1, 1)))
    return concat(levels, axis=1)
