"""The sum over all axes but the channels': a bias's gradient."""

from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import rounded
from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import Array


class ChannelSum(FunctionNode):
    """x (B, C, ...) to (C,); of floats of 16 bits to float32."""

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        self._shape, self._dtype = x.shape, x.dtype
        return (backend_of(x).channel_sum(x),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return ChannelSpread(self._shape, self._dtype).apply(gys)


class ChannelSpread(FunctionNode):
    """v (C,) to `shape` (B, C, ...): each channel filled with its number, rounded to `dtype`."""

    def __init__(self, shape: Sequence[int], dtype: np.dtype):
        self._shape = tuple(shape)
        self._dtype = dtype

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        v = rounded(inputs[0], self._dtype)
        return (backend_of(v).xp.broadcast_to(v.reshape((-1,) + (1,) * (len(self._shape) - 2)), self._shape),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return ChannelSum().apply(gys)


def channel_sum(x: Variable | Array) -> Variable:
    """The sum of x (B, C, ...) over all axes but the second: (C,); of floats of 16 bits in float32.

    Raises ShapeError if x has fewer than two axes.
    """
    x = as_variable(x)
    if x.ndim < 2:
        raise ShapeError("channel_sum: x has no channels", expected="(B, C, ...)", got=x.shape)
    return ChannelSum().apply((x,))[0]
