"""Replay of a compiled call as one differentiable function."""

import threading
from collections.abc import Callable

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, variables_of
from cvzoo.config.randomness import get_random_state
from cvzoo.config.switches import switches
from cvzoo.functions.util.forget import Forget
from cvzoo.graph.training_graph import TrainingGraph
from cvzoo.typing.aliases import Array


class Replay(FunctionNode):
    """Maps the argument arrays and the graph's parameters to the results that depend on them.

    What was not captured (a second backward, higher-order derivatives, results without gradients) falls back to an
    eager rerun of the call.

    eager_call: the eager call, from the arguments as Variables to the same results
    on_missing: called with the indexes of results that unexpectedly got no gradients
    is_pending: whether the graph holds values for its backward
    constant_results: the results that depend on no parameter, by index
    """

    def __init__(
        self,
        graph: TrainingGraph,
        eager_call: Callable[..., tuple[Variable, ...]],
        on_missing: Callable[[frozenset[int]], None],
    ):
        self.is_pending = False
        self.constant_results: dict[int, Array] = {}
        self._graph = graph
        self._eager_call = eager_call
        self._on_missing = on_missing
        self._random_state: dict | None = None
        self._train = switches.train
        self._thread = threading.get_ident()

    @property
    def label(self) -> str:
        return f"replay of {self._graph.name}"

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        graph = self._graph
        self.retain_inputs(range(graph.n_argument))
        if graph.is_random:
            self._random_state = get_random_state()
        results = graph.forward(inputs[: graph.n_argument])
        self.is_pending = True
        differentiable = set(graph.differentiable)
        self.constant_results = {k: y for k, y in enumerate(results) if k not in differentiable}
        return tuple([results[k] for k in graph.differentiable])

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        graph = self._graph
        was_pending, self.is_pending = self.is_pending, False
        missing = frozenset([k for k, gy in zip(graph.differentiable, gys) if gy is None])
        is_expected = missing == frozenset(graph.differentiable) - frozenset(graph.seeds)
        if was_pending and not is_expected:
            self._on_missing(missing)
        if not was_pending or not is_expected or switches.enable_backprop:
            if was_pending:
                graph.forget()
            return self._rerun(indexes, gys)
        gradients = variables_of(graph.backward([gy._array for gy in gys if gy is not None]))
        by_index = dict(zip(graph.grad_indexes, gradients))
        return tuple([by_index.get(i) for i in indexes])

    def _rerun(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        state = self._random_state if self._random_state is not None else get_random_state()
        node = Forget(self._eager_call, self._graph.n_argument, state, ())
        node.train = self._train
        node.inputs = self.inputs
        node._input_indexes = self._input_indexes
        node._retained_inputs = self._retained_inputs
        return node.backward(indexes, gys)

    def __del__(self) -> None:
        # the arena belongs to the creating thread: if another thread's garbage collector comes here, the next call
        # releases the values
        if self.is_pending and threading.get_ident() == self._thread:
            self._graph.forget()
