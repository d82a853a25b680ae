"""Padding and cropping."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError, UnsupportedError, ValueRangeError
from cvzoo.functions.array.indexing import get_item
from cvzoo.typing.aliases import Array

Widths = int | Sequence[int] | Sequence[Sequence[int]]


class Pad(FunctionNode):
    def __init__(self, widths: Widths, value: float):
        self.widths = widths
        self.value = value

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = backend_of(x)
        widths = _all_widths(self.widths, x.ndim)
        y = backend.zeros([a + size + b for size, (a, b) in zip(x.shape, widths)], x.dtype)
        if self.value:
            y[...] = self.value
        self.inner = tuple([slice(a, a + size) for size, (a, _) in zip(x.shape, widths)])
        y[self.inner] = x
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return (get_item(gys[0], self.inner),)


def _all_widths(widths: Widths, ndim: int) -> list[tuple[int, int]]:
    if isinstance(widths, int):
        pairs: list[Any] = [(widths, widths)] * ndim
    else:
        pairs = [(w, w) if isinstance(w, int) else tuple(w) for w in widths]
        first, *rest = widths
        if isinstance(first, int) and len(rest) == 1 and isinstance(rest[0], int):  # (before, after) of every axis
            pairs = [(first, rest[0])] * ndim
        elif len(pairs) == 1:
            pairs = pairs * ndim
    if len(pairs) != ndim or any(len(p) != 2 for p in pairs):
        raise ShapeError("pad: needs a pair (before, after) for each axis", expected=f"{ndim} pairs", got=widths)
    if any(a < 0 or b < 0 for a, b in pairs):
        raise ValueRangeError("pad: a rim cannot be negative", got=widths, hint="functions.crop, or x[...]")
    return pairs


def pad(x: Variable | Array, pad_width: Widths, mode: str = "constant", *, constant_values: float = 0.0) -> Variable:
    """x padded with a constant.

    pad_width: how wide: one number, (before, after) for every axis, or a pair for each axis
    mode: only "constant" is supported
    Raises ShapeError or ValueRangeError if the widths do not fit x or are negative.
    """
    if mode != "constant":
        raise UnsupportedError(f"pad: there is no mode {mode!r}", expected="constant")
    return Pad(pad_width, constant_values).apply((x,))[0]


def crop(x: Variable | Array, size: Sequence[int], offset: Sequence[int] = (0, 0)) -> Variable:
    """(..., h, w): the part of x (..., H, W) of `size` (h, w) that begins at `offset` (rows, columns); a view.

    Raises ShapeError if it reaches beyond x.
    """
    x = as_variable(x)
    if x.ndim < 2 or any(o < 0 or s < 0 or o + s > n for s, o, n in zip(size, offset, x.shape[-2:])):
        raise ShapeError(
            "crop: the part reaches beyond x", expected=f"within {x.shape[-2:]}", got=f"size {size} at {offset}"
        )
    return get_item(x, (..., slice(offset[0], offset[0] + size[0]), slice(offset[1], offset[1] + size[1])))
