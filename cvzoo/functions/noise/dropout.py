"""Values, or residual branches of whole images, dropped at random while training."""

from typing import Literal, overload

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.dtypes import floating_backend
from cvzoo.typing.aliases import Array


class Dropout(FunctionNode):
    def __init__(self, ratio: float, mask: Array | None = None):
        self.ratio = ratio
        self.mask = mask

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = floating_backend(x, "dropout")
        if self.mask is None:
            self.mask = _draw(x, self.ratio)
        elif backend_of(self.mask) and self.mask.shape != x.shape:
            raise ShapeError("dropout: the mask has another shape than x", expected=x.shape, got=self.mask.shape)
        return (backend.multiply(x, self.mask),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return Dropout(self.ratio, self.mask).apply(gys)


def _draw(x: Array, ratio: float) -> Array:
    """0 or 1 / (1 - ratio) for each value; 4-D masks are channels-last, as activations are."""
    shape = x.shape if x.ndim != 4 else tuple([x.shape[i] for i in (0, 2, 3, 1)])
    mask = backend_of(x).random_mask(shape, ratio, 1 / (1 - ratio), x.dtype)
    return mask if x.ndim != 4 else mask.transpose(0, 3, 1, 2)


@overload
def dropout(
    x: Variable | Array, ratio: float = 0.5, *, mask: Array | None = None, return_mask: Literal[False] = False
) -> Variable: ...
@overload
def dropout(
    x: Variable | Array, ratio: float = 0.5, *, mask: Array | None = None, return_mask: Literal[True]
) -> tuple[Variable, Array | None]: ...
def dropout(
    x: Variable | Array, ratio: float = 0.5, *, mask: Array | None = None, return_mask: bool = False
) -> Variable | tuple[Variable, Array | None]:
    """x with each value dropped with probability `ratio` and the others divided by 1 - ratio; x itself unless
    config.train.

    ratio: 0 to below 1
    mask: the factor of x, instead of a draw from config.random_generator()
    return_mask: (y, mask), mask None where x is returned as it is
    Raises ValueRangeError if ratio is out of range, ShapeError if mask does not have x's shape.
    Source: Dropout: a simple way to prevent neural networks from overfitting (Srivastava et al., JMLR 2014).
    """
    if not 0 <= ratio < 1:
        raise ValueRangeError("dropout: the ratio must be a probability below 1", expected="[0, 1)", got=ratio)
    if not switches.train:
        return (as_variable(x), None) if return_mask else as_variable(x)
    node = Dropout(ratio, mask)
    (y,) = node.apply((x,))
    return (y, node.mask) if return_mask else y


class StochasticDepth(FunctionNode):
    def __init__(self, ratio: float, mask: Array | None = None):
        self.ratio = ratio
        self.mask = mask

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = floating_backend(x, "stochastic_depth")
        if self.mask is None:
            scale = 1 / (1 - self.ratio) if self.ratio < 1 else 0
            mask = backend.random_mask((len(x),), self.ratio, scale, x.dtype)
            self.mask = mask.reshape(-1, *(1,) * (x.ndim - 1))
        return (backend.multiply(x, self.mask),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
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
