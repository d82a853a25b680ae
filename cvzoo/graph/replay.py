"""Replay of a compiled call as one differentiable function."""

import threading
from collections.abc import Callable
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, variables_of
from cvzoo.config.randomness import get_random_state
from cvzoo.config.switches import switches
from cvzoo.functions.util.forget import Forget
from cvzoo.graph.learning_graph import LearningGraph


class Replay(FunctionNode):
    """Maps the argument arrays and the graph's parameters to the results that depend on them.

    What was not captured (a second backward, higher-order derivatives, results without gradients) falls back to an
    eager rerun of the call.

    again: the eager call, from the arguments as Variables to the same results
    waits: whether the graph holds the state of its backward
    others: the results that depend on no parameter, by index
    surprise: called with the indexes of results that got no gradients
    """

    def __init__(self, graph: LearningGraph, again: Callable[..., Any], surprise: Callable[[frozenset[int]], None]):
        self.waits = False
        self.others: dict[int, Any] = {}
        self._graph = graph
        self._again = again
        self._surprise = surprise
        self._random_state: dict | None = None
        self._train = switches.train
        self._thread = threading.get_ident()

    @property
    def label(self) -> str:
        return f"replay of {self._graph.name}"

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        graph = self._graph
        self.retain_inputs(range(graph.n_argument))
        if graph.is_random:
            self._random_state = get_random_state()
        results = graph.forward(inputs[: graph.n_argument])
        self.waits = True
        differentiable = set(graph.differentiable)
        self.others = {k: y for k, y in enumerate(results) if k not in differentiable}
        return tuple([results[k] for k in graph.differentiable])

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        graph = self._graph
        waited, self.waits = self.waits, False
        missing = frozenset([k for k, gy in zip(graph.differentiable, gys) if gy is None])
        foreseen = missing == frozenset(graph.differentiable) - frozenset(graph.seeds)
        if waited and not foreseen:
            self._surprise(missing)
        if not waited or not foreseen or switches.enable_backprop:
            if waited:
                graph.forget()
            return self._compute_again(indexes, gys)
        gradients = variables_of(graph.backward([gy._array for gy in gys if gy is not None]))
        found = dict(zip(graph.places, gradients))
        return tuple([found.get(i) for i in indexes])

    def _compute_again(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Variable | None, ...]:
        state = self._random_state if self._random_state is not None else get_random_state()
        node = Forget(self._again, self._graph.n_argument, state, ())
        node.train = self._train
        node.inputs = self.inputs
        node._input_indexes = self._input_indexes
        node._retained_inputs = self._retained_inputs
        return node.backward(indexes, gys)

    def __del__(self) -> None:
        # another thread's garbage collector leaves this to the next call
        if self.waits and threading.get_ident() == self._thread:
            self._graph.forget()
