"""The sum over all axes but the channels': a bias's gradient."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError


class ChannelSum(FunctionNode):
    """x (B, C, ...) to (C,)."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self._shape = x.shape
        return (backend_of(x).channel_sum(x),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return ChannelSpread(self._shape).apply(gys)


class ChannelSpread(FunctionNode):
    """v (C,) to `shape` (B, C, ...): each channel filled with its number."""

    def __init__(self, shape: Sequence[int]):
        self._shape = tuple(shape)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (v,) = inputs
        return (backend_of(v).xp.broadcast_to(v.reshape((-1,) + (1,) * (len(self._shape) - 2)), self._shape),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return ChannelSum().apply(gys)


def channel_sum(x: Any) -> Variable:
    """The sum of x (B, C, ...) over all axes but the second: (C,).

    Raises ShapeError if x has fewer than two axes.
    """
    x = as_variable(x)
    if x.ndim < 2:
        raise ShapeError("channel_sum: x has no channels", expected="(B, C, ...)", got=x.shape)
    return ChannelSum().apply((x,))[0]
