"""`autograd`'s functions that widen, spread and rearrange, and those that look at numbers only: no gradient."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError, UnsupportedError, ValueRangeError
from cvzoo.functions.array.get_item import get_item
from cvzoo.functions.array.pad import pad as _pad
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.array.transpose import transpose
from cvzoo.functions.array.where import where
from cvzoo.singa.beside import beside, on_host
from cvzoo.singa.tensor_class import Tensor, apply, hold

_TO_SPACE = {"DCR": (0, 3, 4, 1, 5, 2), "CRD": (0, 1, 4, 2, 5, 3)}
_TO_DEPTH = {"DCR": (0, 3, 5, 1, 2, 4), "CRD": (0, 1, 3, 5, 2, 4)}


# --- wider ------------------------------------------------------------------------------------------------------------
def pad(x: Tensor, mode: str, pads: Sequence[int], constant: float = 0.0) -> Tensor:
    """x with more places at its edges: `constant`, or with mode "edge" what stands at the edge.

    pads: how many before each axis, then how many after each axis
    Raises UnsupportedError for "reflect", which SINGA's code and its documentation compute differently.
    """
    n = len(x.shape)
    if len(pads) != 2 * n or min(pads, default=0) < 0:
        raise ShapeError("pad: pads has two numbers for each axis, none below 0", expected=2 * n, got=tuple(pads))
    widths = [(int(pads[k]), int(pads[k + n])) for k in range(n)]
    if mode == "constant":
        return apply(lambda y: _pad(y, widths, constant_values=constant), x)
    if mode != "edge":
        raise UnsupportedError("pad: mode", expected="'constant' or 'edge'", got=repr(mode))
    places = [np.pad(np.arange(size), width, "edge") for size, width in zip(x.shape, widths)]
    return _pick(x, places)


def upsample(x: Tensor, mode: str, scales: Sequence[float]) -> Tensor:
    """x with each element so many times along each axis; mode is "nearest", and scales are whole numbers."""
    if mode.lower() != "nearest":
        raise UnsupportedError("upsample: mode", expected="'nearest'", got=repr(mode))
    if len(scales) != len(x.shape) or any(s != int(s) or s < 1 for s in scales):
        raise ValueRangeError("upsample: a whole number for each axis", got=tuple(scales))
    return _pick(x, [np.repeat(np.arange(size), int(s)) for size, s in zip(x.shape, scales)])


def _pick(x: Tensor, places: Sequence[np.ndarray]) -> Tensor:
    for axis, numbers in enumerate(places):
        if len(numbers) != x.shape[axis]:
            x = apply(get_item, x, (*(slice(None),) * axis, numbers))
    return x


# --- rearranged -------------------------------------------------------------------------------------------------------
def depth_to_space(x: Tensor, blocksize: int, mode: str = "DCR") -> Tensor:
    """(B, C, H s, W s) of x (B, C s s, H, W) for a blocksize s; the channels' order is s s C with "DCR", C s s with
    "CRD"."""
    order = _order("depth_to_space", _TO_SPACE, mode, blocksize)
    if len(x.shape) != 4 or x.shape[1] % blocksize**2:
        raise ShapeError("depth_to_space: channels a multiple of blocksize^2", got=f"{x.shape}, blocksize {blocksize}")
    b, c, h, w = x.shape
    c //= blocksize**2
    parts = (b, blocksize, blocksize, c, h, w) if mode.upper() == "DCR" else (b, c, blocksize, blocksize, h, w)
    return apply(_rearranged, x, parts, order, (b, c, h * blocksize, w * blocksize))


def space_to_depth(x: Tensor, blocksize: int, mode: str = "DCR") -> Tensor:
    """(B, C s s, H / s, W / s) of x (B, C, H, W): what `depth_to_space` undoes."""
    order = _order("space_to_depth", _TO_DEPTH, mode, blocksize)
    if len(x.shape) != 4 or x.shape[2] % blocksize or x.shape[3] % blocksize:
        raise ShapeError("space_to_depth: H and W multiples of blocksize", got=f"{x.shape}, blocksize {blocksize}")
    b, c, h, w = x.shape
    h, w = h // blocksize, w // blocksize
    return apply(_rearranged, x, (b, c, h, blocksize, w, blocksize), order, (b, c * blocksize**2, h, w))


def _order(name: str, orders: dict[str, tuple[int, ...]], mode: str, blocksize: int) -> tuple[int, ...]:
    if blocksize < 1:
        raise ValueRangeError(f"{name}: blocksize", expected="1 or more", got=blocksize)
    if mode.upper() not in orders:
        raise ValueRangeError(f"{name}: mode", expected="'DCR' or 'CRD'", got=repr(mode))
    return orders[mode.upper()]


def _rearranged(x: Any, parts: tuple[int, ...], order: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    return reshape(transpose(reshape(x, parts), order), shape)


def scatter_elements(x: Tensor, indices: Any, updates: Any, axis: int = 0) -> Tensor:
    """x (N, C) with `updates` written at the places that `indices`, of the same shape, name along the axis; gradients
    go to what is left of x."""
    places, values = _numbers(indices).astype(np.int64), _numbers(updates).astype(np.float32)
    if len(x.shape) != 2 or places.ndim != 2 or places.shape != values.shape or not -2 <= axis < 2:
        raise ShapeError(
            "scatter_elements: x, indices and updates have two axes, the last two one shape",
            got=f"x {x.shape}, indices {places.shape}, updates {values.shape}, axis {axis}",
        )
    n = x.shape[axis]
    if places.size and not -n <= places.min() <= places.max() < n:
        raise ValueRangeError("scatter_elements: no such place", expected=f"{-n} to {n - 1}")
    index = np.indices(places.shape)
    index[axis % 2] = places % n
    written, free = np.zeros(x.shape, np.float32), np.ones(x.shape, bool)
    written[tuple(index)] = values
    free[tuple(index)] = False
    return apply(where, beside(x, free), x, beside(x, written))


# --- looked at --------------------------------------------------------------------------------------------------------
def shape(x: Tensor) -> Tensor:
    """x's shape as a Tensor of integers."""
    return hold(np.array(x.shape, np.int32))


def constant_of_shape(x: Any, value: float = 0) -> Tensor:
    """A Tensor of the shape that x says, each element `value`."""
    sizes = _numbers(x).astype(np.int64)
    if sizes.ndim != 1 or (sizes < 0).any():
        raise ShapeError("constant_of_shape wants a row of sizes, none below 0", got=sizes.tolist())
    return hold(np.full(tuple(sizes), value, np.float32))


def nonzero(x: Tensor) -> Tensor:
    """(axes, K): where x is not 0."""
    return hold(beside(x, np.array(np.nonzero(_numbers(x)), np.int32)))


def rounde(x: Tensor) -> Tensor:
    """The nearest whole number, halves to the even one; no gradient."""
    return hold(beside(x, np.rint(_numbers(x))))


def _and(a: Tensor, b: Tensor) -> Tensor:
    """1 where neither is 0, else 0."""
    return hold(beside(a, np.logical_and(_numbers(a), _numbers(b)).astype(np.float32)))


def _or(a: Tensor, b: Tensor) -> Tensor:
    """0 where both are 0, else 1."""
    return hold(beside(a, np.logical_or(_numbers(a), _numbers(b)).astype(np.float32)))


def _xor(a: Tensor, b: Tensor) -> Tensor:
    """1 where one of them is 0, else 0."""
    return hold(beside(a, np.logical_xor(_numbers(a), _numbers(b)).astype(np.float32)))


def _not(x: Tensor) -> Tensor:
    """1 where x is 0, else 0."""
    return hold(beside(x, (_numbers(x) == 0).astype(np.float32)))


def _numbers(x: Any) -> np.ndarray:
    if isinstance(x, Variable):
        _ = x.data  # a recording is told that they are read
    return on_host(x)
