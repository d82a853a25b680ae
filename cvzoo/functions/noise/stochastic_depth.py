"""Stochastic depth: residual branches dropped at random per image in training."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.math.elementwise import floating_backend
from cvzoo.typing.aliases import Array


class StochasticDepth(FunctionNode):
    def __init__(self, ratio: float, mask: Any = None):
        self.ratio = ratio
        self.mask = mask

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend = floating_backend(x, "stochastic_depth")
        if self.mask is None:
            scale = 1 / (1 - self.ratio) if self.ratio < 1 else 0
            mask = backend.random_mask((len(x),), self.ratio, scale, x.dtype)
            self.mask = mask.reshape(-1, *(1,) * (x.ndim - 1))
        return (backend.multiply(x, self.mask),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return StochasticDepth(self.ratio, self.mask).apply(gys)


def stochastic_depth(x: Variable | Array, ratio: float) -> Variable:
    """x with each element of the batch all 0 with probability `ratio` and the others divided by 1 - ratio; x itself
    unless config.train.

    x: (B, ...), the branch that is to be added to a shortcut
    ratio: 0 to 1
    Raises ValueRangeError if the ratio is out of range, ShapeError if x has no batch axis.
    Source: Deep networks with stochastic depth (Huang et al., ECCV 2016). Where we differ: the branch is scaled while
    training, not afterwards.
    """
    if not 0 <= ratio <= 1:
        raise ValueRangeError("stochastic_depth: the ratio must be a probability", expected="[0, 1]", got=ratio)
    x = as_variable(x)
    if not x.ndim:
        raise ShapeError("stochastic_depth: x has no batch axis", expected="(B, ...)", got=x.shape)
    if not switches.train or not ratio:
        return x
    return StochasticDepth(ratio).apply((x,))[0]
