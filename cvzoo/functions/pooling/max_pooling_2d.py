"""Maximum pooling over windows, and over all of a map."""

from collections.abc import Sequence
from typing import Any, Literal, overload

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import switches
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.pooling.pool_window import pool_window
from cvzoo.functions.pooling.upsampling_2d import PickPixels
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]


class MaxPooling2D(FunctionNode):
    """x (B, C, H, W) to (B, C, OH, OW).

    keep: whether the state for a gradient is stored
    """

    def __init__(self, window: dict[str, Any], keep: bool):
        self._window = window
        self._keep = keep

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        y, self._saved = backend_of(x).max_pool_2d(x, keep=self._keep, **self._window)
        # x is only needed for a second derivative; retaining it is free if the function before (a ReLU) does so, too
        self.retain_inputs((0,))
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = self.get_retained_inputs()
        # without a second derivative x's memory may be freed
        again = x.array if switches.enable_backprop else None
        return MaxPooling2DGrad(self._window, self._saved, x.shape, again).apply(gys)


class MaxPooling2DGrad(FunctionNode):
    """gy (B, C, OH, OW) to gx (B, C, H, W). It is linear in gy, for fixed indices of the maxima.

    saved: what the forward kernel saved; x: the pooled array, for a second derivative
    """

    def __init__(self, window: dict[str, Any], saved: Any, x_shape: tuple[int, ...], x: Any):
        self._window = window
        self._saved = saved
        self._x_shape = x_shape
        self._x = x

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (gy,) = inputs
        return (backend_of(gy).max_pool_2d_grad(gy, self._saved, self._x_shape, **self._window),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        indices = backend_of(self._x).max_pool_2d_indices(self._x, **self._window)
        picked = PickPixels(indices).apply(gys)[0]
        is_inside = _overlaps_image(backend_of(self._x).xp, self._x_shape[2:], indices.shape[2:], self._window)
        return (picked if is_inside is None else MaskPixels(is_inside).apply((picked,))[0],)


class MaxPlaces(FunctionNode):
    """x (B, C, H, W) to (B, C, OH, OW) int64: where the maxima are."""

    def __init__(self, window: dict[str, Any]):
        self._window = window

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        return (backend_of(x).max_pool_2d_indices(x, **self._window),)


class MaskPixels(FunctionNode):
    """x (B, C, H, W) times a mask (H, W)."""

    def __init__(self, mask: Any):
        self._mask = mask

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        return (x * self._mask,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return MaskPixels(self._mask).apply(gys)


def _overlaps_image(xp: Any, size: Sequence[int], out_size: Sequence[int], window: dict[str, Any]) -> Any:
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
) -> tuple[Variable, Any]: ...
def max_pooling_2d(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    cover_all: bool = True,
    *,
    return_indices: bool = False,
) -> Variable | tuple[Variable, Any]:
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
