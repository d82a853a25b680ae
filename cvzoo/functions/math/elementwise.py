"""Base classes of element-wise functions."""

import abc
from collections.abc import Sequence

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, variables_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import switches
from cvzoo.functions.array.dtypes import floating_backend
from cvzoo.typing.aliases import Array, ArrayModule


class AbstractElementwise(FunctionNode, abc.ABC):
    """A function that is a `kind` of the backend's `eltwise`.

    The gradient is one kernel, too, in an ordinary sweep; where it is to be differentiated again it is spelled out
    with `slope`, so that derivatives of every order exist.
    """

    kind: str
    alpha: float = 0.0
    beta: float = 0.0

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = floating_backend(x, self.kind)
        self.retain_inputs((0,))
        return (backend.eltwise(self.kind, x, alpha=self.alpha, beta=self.beta),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (gy,) = gys
        (x,) = self.get_retained_inputs()
        # double backprop differentiates the gradient, too; otherwise one pass of a kernel is enough
        if switches.enable_backprop:
            return (gy * self.slope(x),)
        array = x.array
        gx = backend_of(array).eltwise_grad(self.kind, gy.array, array, alpha=self.alpha, beta=self.beta)
        return variables_of((gx,))

    @abc.abstractmethod
    def slope(self, x: Variable) -> Variable | Array:
        """The derivative at x, made of differentiable functions; an array where it is constant piece by piece."""


class AbstractElementwiseOfOutput(FunctionNode, abc.ABC):
    """The same, with the derivative computed from the output, so that the input need not be retained."""

    kind: str
    alpha: float = 0.0
    beta: float = 0.0

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = floating_backend(x, self.kind)
        self.retain_outputs((0,))
        return (backend.eltwise(self.kind, x, alpha=self.alpha, beta=self.beta),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (gy,) = gys
        (y,) = self.get_retained_outputs()
        if switches.enable_backprop:
            return (gy * self.slope(y),)
        array = y.array
        gx = backend_of(array).eltwise_grad_from_output(self.kind, gy.array, array, alpha=self.alpha, beta=self.beta)
        return variables_of((gx,))

    @abc.abstractmethod
    def slope(self, y: Variable) -> Variable | Array:
        """The derivative where the output is y; as in AbstractElementwise."""


class AbstractPointwise(FunctionNode, abc.ABC):
    """A function of one array that the array module computes element by element."""

    in_float32 = True

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        xp = floating_backend(x, self.label.lower()).xp
        self.retain_inputs((0,))
        return (self.value(xp, x),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        return (gys[0] * self.slope(x),)

    @abc.abstractmethod
    def value(self, xp: ArrayModule, x: Array) -> Array:
        """The array of results."""

    @abc.abstractmethod
    def slope(self, x: Variable) -> Variable:
        """The derivative at x, made of differentiable functions."""


class ElementwiseChain(FunctionNode):
    """x and the other operands, in order, to x after all steps. Not differentiable: inserted by graph passes.

    steps: as the backends' `chain` takes them
    """

    def __init__(self, steps: Sequence[tuple]):
        self.steps = tuple(steps)

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, *others = inputs
        return (backend_of(x).chain(x, self.steps, others),)
