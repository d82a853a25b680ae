"""Channels of several groups mixed."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


class ChannelShuffle(FunctionNode):
    def __init__(self, groups: int):
        self.groups = groups

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        b, c, h, w = x.shape
        # one pass over memory, with the channels innermost as 4-D arrays lie
        seen = x.transpose(0, 2, 3, 1).reshape(b, h, w, self.groups, c // self.groups).swapaxes(3, 4)
        self._channels = c
        return (backend_of(x).reshaped(seen, (b, h, w, c)).transpose(0, 3, 1, 2),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return ChannelShuffle(self._channels // self.groups).apply(gys)


def channel_shuffle(x: Variable | Any, groups: int) -> Variable:
    """x (B, C, H, W) with its channels taken in turn from `groups` equal parts: the first of each, the second of each.

    Raises ShapeError if x is not 4-D or its channels do not divide, ValueRangeError if groups is not positive.
    Source: ShuffleNet (Zhang et al., CVPR 2018).
    """
    x = as_variable(x)
    if groups < 1:
        raise ValueRangeError("channel_shuffle: groups must be positive", got=groups)
    if x.ndim != 4 or x.shape[1] % groups:
        raise ShapeError(
            "channel_shuffle: the channels cannot be split", expected=f"(B, multiple of {groups}, H, W)", got=x.shape
        )
    return ChannelShuffle(groups).apply((x,))[0]
