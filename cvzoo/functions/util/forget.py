"""Gradient checkpointing: intermediate values of a block are recomputed in backward instead of stored."""

from collections.abc import Callable
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.autodiff.variable_node import VariableNode
from cvzoo.config.randomness import get_random_state, using_random_state
from cvzoo.config.switches import force_backprop_mode, switches, using_config
from cvzoo.errors.exceptions import DtypeError
from cvzoo.typing.aliases import Array

Block = Callable[..., Any]


class Identity(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        return inputs

    def backward(self, indexes: tuple, gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        return tuple([gys[i] for i in indexes])


class Forget(FunctionNode):
    """The block as one function; its inputs are the block's arguments, then other leaves that it reads (parameters)."""

    def __init__(self, func: Block, n_argument: int, random_state: dict, outputs: tuple[Array, ...]):
        self.func = func
        self.n_argument = n_argument
        self.random_state = random_state
        self.train = switches.train
        self.results = outputs

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        results = self.results
        del self.results
        self.retain_inputs(range(self.n_argument))
        return results

    def backward(self, indexes: tuple, gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        double = switches.enable_backprop
        # backward runs without recording, except in double backprop; the block needs a graph in any case
        with force_backprop_mode():
            arguments = [Identity().apply((x,))[0] for x in self.get_retained_inputs()]
        # as leaves, so that the traversal stops at the arguments and does not enter the graph before them
        creators = [x.node.creator for x in arguments]
        for x in arguments:
            x.node.creator = None
        with (
            force_backprop_mode(),
            using_random_state(self.random_state),
            using_config("train", self.train),
            using_config("in_recomputing", True),
        ):
            ys = _outputs(self.func(*arguments))
        sources = [*arguments, *[node.variable() for node in self.inputs[self.n_argument :]]]
        targets = [sources[i] for i in indexes if sources[i] is not None]
        pairs = [(y, gy) for y, gy in zip(ys, gys) if gy is not None]
        computed = grad([y for y, _ in pairs], targets, [gy for _, gy in pairs], enable_double_backprop=double)
        # restores the graph before the arguments, for double backprop
        for x, creator in zip(arguments, creators):
            x.node.creator = creator
        gradients = iter(computed)
        return tuple([None if sources[i] is None else next(gradients) for i in indexes])


def _outputs(ys: object) -> tuple[Variable, ...]:
    outputs: tuple[Any, ...] = tuple(ys) if isinstance(ys, tuple | list) else (ys,)
    for y in outputs:
        if not isinstance(y, Variable):
            raise DtypeError("forget: the block must return a Variable or a tuple of them", got=type(y).__name__)
    return outputs


def _leaves(ys: tuple[Variable, ...], arguments: list[Variable]) -> list[Variable]:
    """The leaves other than the arguments that the block reads and that require gradients, if still referenced."""
    visited: set[VariableNode] = {x.node for x in arguments}
    leaves = []
    stack = [y.node for y in ys]
    while stack:
        node = stack.pop()
        if node in visited:
            continue
        visited.add(node)
        if node.creator is not None:
            stack.extend(node.creator.inputs)
        elif node.requires_grad:
            leaves.append(node.variable())
    return [leaf for leaf in leaves if leaf is not None]


def forget(func: Block, *xs: Variable | Array) -> Variable | tuple[Variable, ...]:
    """func(*xs), without keeping what is computed on the way: backward computes it again.

    func: takes Variables, returns a Variable or a tuple of them; called a second time in backward, with the random
        numbers of the first time and config.in_recomputing True. Parameters that it reads get their gradients.
    What the block keeps for backward lives while the block runs, and again while its backward runs.
    Raises DtypeError if func returns something else.
    Source: Training deep nets with sublinear memory cost (Chen et al., 2016).
    """
    if not switches.enable_backprop:
        return func(*[as_variable(x) for x in xs])
    variables = [as_variable(x) for x in xs]
    random_state = get_random_state()
    arguments = [Variable(x.array, requires_grad=x.requires_grad) for x in variables]
    returned = func(*arguments)
    ys = _outputs(returned)
    node = Forget(func, len(xs), random_state, tuple([y.array for y in ys]))
    leaves = _leaves(ys, arguments)
    single = isinstance(returned, Variable)
    # the block's graph and its intermediate values are freed here
    del returned, ys
    results = node.apply((*variables, *leaves))
    return results[0] if single else results
