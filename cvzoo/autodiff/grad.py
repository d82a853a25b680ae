"""Gradients as values: `grad(outputs, inputs)`."""

from collections.abc import Sequence

from cvzoo.autodiff.backprop import sweep
from cvzoo.autodiff.variable import Variable, make_output
from cvzoo.autodiff.variable_node import VariableNode
from cvzoo.backends.device import on_device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError
from cvzoo.typing.aliases import Array


def grad(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    grad_outputs: Sequence[Variable | Array | None] | None = None,
    *,
    enable_double_backprop: bool = False,
) -> list[Variable | None]:
    """The gradients of the sum of `outputs` with respect to `inputs`; None for an input that they do not depend on.

    outputs, inputs: Variables; an input may be an intermediate value
    grad_outputs: the gradients of the outputs, each an array, Variable or None; None is an array of ones
    enable_double_backprop: the gradients can themselves be differentiated
    The graph is kept, and no Variable's `grad` is changed.
    Raises GraphError if an earlier backward() has released the graph.
    """
    for name, values in (("outputs", outputs), ("inputs", inputs)):
        if isinstance(values, Variable) or not all(isinstance(v, Variable) for v in values):
            raise DtypeError(
                f"grad: {name} must be a list of Variables", got=type(values).__name__, hint="grad([y], [x])"
            )
    if grad_outputs is None:
        grad_outputs = [None] * len(outputs)
    if len(grad_outputs) != len(outputs):
        raise ShapeError("grad: one grad_output for each output", expected=len(outputs), got=len(grad_outputs))
    seeds = []
    for y, gy in zip(outputs, grad_outputs):
        if gy is None:
            with on_device_of(y.array):
                gy = backend_of(y.array).xp.ones_like(y.array)
        gy = gy if isinstance(gy, Variable) else Variable(gy, requires_grad=False)
        if gy.shape != y.shape:
            raise ShapeError("grad: a grad_output has the shape of its output", expected=y.shape, got=gy.shape)
        seeds.append((y.node, gy))
    targets = {x.node for x in inputs}
    reach = _between({node for node, _ in seeds}, targets)
    gradients: dict[VariableNode, Variable] = {}

    def finish(node: VariableNode, gradient: Variable) -> None:
        if node in targets:
            gradients[node] = gradient

    sweep(
        [(node, gy) for node, gy in seeds if node in reach],
        finish=finish,
        double=enable_double_backprop,
        make=make_output,
        reach=reach,
    )
    return [gradients.get(x.node) for x in inputs]


def _between(outputs: set[VariableNode], inputs: set[VariableNode]) -> set[VariableNode]:
    """The nodes on paths from `inputs` to `outputs`, including both."""
    users: dict[VariableNode, list[VariableNode]] = {}
    visited = set(outputs)
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node.creator is None:
            if node.released:
                raise GraphError(
                    "grad: the graph was released by an earlier backward()", hint="backward(retain_graph=True)"
                )
            continue
        for x in node.creator.inputs:
            users.setdefault(x, []).append(node)
            if x not in visited:
                visited.add(x)
                stack.append(x)
    reach = {x for x in inputs if x in visited}
    stack = list(reach)
    while stack:
        for node in users.get(stack.pop(), ()):
            if node not in reach:
                reach.add(node)
                stack.append(node)
    return reach
