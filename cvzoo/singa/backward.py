"""Gradients as SINGA returns them: pairs of a parameter and its gradient."""

from collections.abc import Iterator

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.device import on_device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError
from cvzoo.singa.tensor_class import Tensor, hold


def backward(y: Tensor, dy: Tensor | float | None = None) -> Iterator[tuple[Parameter, Tensor]]:
    """Pairs (parameter, gradient) of all parameters that y was computed from, in no particular order.

    y: a Tensor of one element, a loss
    dy: what the gradients are multiplied with, a number or a Tensor of one element; None for 1
    A parameter is a Tensor with `stores_grad`, also an intermediate value that is still referenced. The gradients are
    new arrays at every call.
    Raises ShapeError if y has more elements, GraphError if nothing was recorded or the graph was released.
    """
    for parameter in fill_gradients(y, dy):
        grad = parameter.grad
        if grad is not None:
            parameter.cleargrad()
            yield parameter, hold(grad)


def gradients(y: Tensor, dy: Tensor | float | None = None) -> dict[int, Tensor]:
    """The gradient of each parameter of `backward`, by the parameter's `id()`."""
    return {id(parameter): grad for parameter, grad in backward(y, dy)}


def fill_gradients(y: Tensor, dy: Tensor | float | None = None) -> list[Parameter]:
    """The parameters that y was computed from, their `grad` now that of y."""
    if not isinstance(y, Variable):
        raise DtypeError("backward takes a Tensor", got=type(y).__name__)
    if y._array.size != 1:
        raise ShapeError("backward starts from a single element", got=f"shape {y.shape}", hint="a loss")
    if y.creator is None:
        if y.node.released:
            raise GraphError("the graph of this loss was released by an earlier backward()")
        raise GraphError(
            "nothing was recorded on the way to this loss",
            hint="autograd.training = True, and parameters with stores_grad=True",
        )
    parameters, computed = _parameters_of(y)
    for parameter in parameters:
        parameter.cleargrad()
    factor = dy._array if isinstance(dy, Variable) else 1.0 if dy is None else dy
    with on_device_of(y._array):
        y.grad = backend_of(y._array).xp.full_like(y._array, factor)
    y.backward(retain_grad=computed)
    y.cleargrad()
    return parameters


def _parameters_of(y: Variable) -> tuple[list[Parameter], bool]:
    """The parameters that y depends on, and whether one of them is an intermediate value."""
    parameters: list[Parameter] = []
    computed = False
    visited = set()
    waiting = [y.creator]
    while waiting:
        function = waiting.pop()
        if function is None or id(function) in visited:
            continue
        visited.add(id(function))
        for node in function.inputs:
            if node.creator is not None:
                waiting.append(node.creator)
            if id(node) in visited or not node.requires_grad:
                continue
            visited.add(id(node))
            handle = node.variable()
            if isinstance(handle, Tensor):
                if handle.stores_grad and handle.requires_grad:
                    parameters.append(handle)
                    computed = computed or node.creator is not None
            elif isinstance(handle, Parameter):
                parameters.append(handle)
    return parameters, computed
