"""What functions have in common that a backend computes element by element in one pass."""

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, variables_of
from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_bfloat16, is_float
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.typing.aliases import Array

SCALARS = (int, float, np.number)
Scalar = int | float | np.number  # the same for type checkers
Operand = Variable | Array | Scalar  # of an arithmetic function, of which one at least is no scalar


def typed_constant(value: float | np.number, x: Variable | Array, function: str) -> Any:
    """The number in x's dtype, so that a number never changes the dtype of a result.

    Raises DtypeError if x is not an array of numbers, or its dtype cannot hold the number.
    """
    backend_of(x)
    kind = x.dtype.kind
    if isinstance(value, bool):
        raise DtypeError(f"{function}: {value} is not a number", hint=f"float({value})")
    if kind == "f" or is_bfloat16(x.dtype):
        return x.dtype.type(value)
    if kind in "iu" and isinstance(value, int | np.integer):
        bounds = np.iinfo(x.dtype)
        if bounds.min <= value <= bounds.max:
            return x.dtype.type(value)
    raise DtypeError(
        f"{function}: {value!r} does not fit in {x.dtype} values",
        expected="a floating array" if kind in "iub" else "an array of numbers",
        got=x.dtype,
        hint="functions.cast(x, 'float32')",
    )


def check_operands(a: Variable | Array, b: Variable | Array, function: str) -> AbstractBackend:
    """The backend of two arrays that have one dtype and shapes that broadcast.

    Raises DtypeError or ShapeError if they do not fit.
    """
    backend = backend_of(a)
    backend_of(b)
    if a.dtype != b.dtype or a.dtype.kind == "b":
        _refuse_dtypes(a.dtype, b.dtype, function)
    if a.shape != b.shape:
        check_broadcast(a.shape, b.shape, function)
    return backend


def of_pair(operation: str, a: Array, b: Array) -> Any:
    """The function of that name ("subtract", "divide", "maximum", "minimum", "power") of two arrays.

    Raises DtypeError or ShapeError as check_operands does.
    """
    return check_operands(a, b, operation).arithmetic(operation, a, b)


def of_constant(operation: str, x: Array, value: float | np.number) -> Any:
    """x and a number that typed_constant has made one of x's dtype, combined.

    operation: "add", "subtract" (x - value), "subtract_from", "multiply", "divide" (x / value), "divide_by", "power"
        (x ** value) or "power_of"
    """
    return backend_of(x).arithmetic_constant(operation, x, value)


def _refuse_dtypes(a: Any, b: Any, function: str) -> None:
    wider = next((str(dtype) for dtype in (a, b) if is_float(dtype)), "float32")
    raise DtypeError(
        f"{function}: both sides must have one dtype" if a != b else f"{function}: truth values are not numbers",
        got=f"{a} and {b}",
        hint=f"functions.cast(x, {wider!r}), or array.astype({wider!r})",
    )


def check_broadcast(a: tuple[int, ...], b: tuple[int, ...], function: str) -> None:
    """Nothing.

    Raises ShapeError if the shapes a and b do not broadcast against each other.
    """
    for m, n in zip(reversed(a), reversed(b)):
        if m != n and m != 1 and n != 1:
            raise ShapeError(
                f"{function}: the shapes do not broadcast",
                expected="equal sizes, or 1, axis by axis from the last",
                got=f"{a} and {b}",
                hint="reshape one of them so that the axes that belong together are aligned",
            )


def floating_backend(x: Variable | Array, function: str) -> Any:
    """The backend of a floating array.

    Raises DtypeError if x is something else.
    """
    backend = backend_of(x)
    if not is_float(x.dtype):
        raise DtypeError(f"{function}: needs a floating array", got=x.dtype, hint="functions.cast(x, 'float32')")
    return backend


class AbstractElementwise(FunctionNode, abc.ABC):
    """A function that is a `kind` of the backend's `eltwise`.

    The gradient is one kernel, too, in an ordinary sweep; where it is to be differentiated again it is spelled out
    with `slope`, so that derivatives of every order exist.
    """

    kind: str
    alpha: float = 0.0
    beta: float = 0.0

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend = floating_backend(x, self.kind)
        self.retain_inputs((0,))
        return (backend.eltwise(self.kind, x, alpha=self.alpha, beta=self.beta),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (gy,) = gys
        (x,) = self.get_retained_inputs()
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

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend = floating_backend(x, self.kind)
        self.retain_outputs((0,))
        return (backend.eltwise(self.kind, x, alpha=self.alpha, beta=self.beta),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
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

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        xp = floating_backend(x, self.label.lower()).xp
        self.retain_inputs((0,))
        return (self.value(xp, x),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (x,) = self.get_retained_inputs()
        return (gys[0] * self.slope(x),)

    @abc.abstractmethod
    def value(self, xp: Any, x: Any) -> Any:
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

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, *others = inputs
        return (backend_of(x).chain(x, self.steps, others),)
