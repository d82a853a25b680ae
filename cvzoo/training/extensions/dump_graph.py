"""The computational graph of the first iteration, as a file."""

import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.autodiff.computational_graph import ComputationalGraph, graph_behind_function
from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.autodiff.variable_node import VariableNode
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.output_folder import write_or_warn, write_text
from cvzoo.typing.aliases import Array

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class DumpGraph(AbstractExtension):
    """Writes the computational graph of a loss once, in the first iteration.

    root_name: the reported value at the root of the graph, such as "main/loss"; `backward()` must start from it
    filename: in the trainer's folder: a listing as text if it ends in .txt, else Graphviz's DOT. None: "cg.dot"
    Parameters have their paths as names. Source: Chainer's extension; images are made by `dot -Tsvg cg.dot`.
    """

    def __init__(self, root_name: str, filename: str | None = None):
        self._root_name = root_name
        self._filename = "cg.dot" if filename is None else filename
        self._done = False
        self._hook: _GraphHook | None = None

    def initialize(self, trainer: "Trainer") -> None:
        if not self._done:
            self._hook = _GraphHook(trainer, self._root_name)
            self._hook.__enter__()  # without `with`, since it lasts until the next call

    def __call__(self, trainer: "Trainer") -> None:
        if self._done or self._hook is None:
            return
        graph = self._hook.graph
        self.finalize()
        self._done = True
        if graph is None:
            warnings.warn(
                f"DumpGraph: no backward() started from a value reported as {self._root_name!r}",
                RuntimeWarning,
                stacklevel=2,
            )
            return
        text = graph.to_text() if self._filename.endswith(".txt") else graph.to_dot()
        path = os.path.join(trainer.out, self._filename)
        write_or_warn(path, lambda: write_text(path, text))

    def finalize(self) -> None:
        if self._hook is not None:
            self._hook.__exit__()
            self._hook = None

    def state(self) -> dict[str, Any]:
        return {"done": self._done}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._done = bool(state["done"])


def dump_graph(root_name: str, filename: str | None = None) -> DumpGraph:
    """An extension that writes the computational graph of a loss once, in the first iteration; see DumpGraph.

    >>> trainer.extend(extensions.dump_graph("main/loss"))
    """
    return DumpGraph(root_name, filename)


class _GraphHook(AbstractFunctionHook):
    """Records the graph when backward() begins, since backward() releases it."""

    def __init__(self, trainer: "Trainer", root_name: str):
        self.graph: ComputationalGraph | None = None
        self._trainer = trainer
        self._root_name = root_name

    def backward_preprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        observed = self._trainer.observation.get(self._root_name)
        if self.graph is not None or observed is None:
            return
        for reference in function.outputs:
            node = reference()
            variable = None if node is None else node.variable()
            if variable is not None and (variable.array is observed or _is_same_number(variable.array, observed)):
                self.graph = graph_behind_function(function, self._names())
                return

    def _names(self) -> dict[VariableNode, str]:
        names = {}
        for key, optimizer in self._trainer.updater.get_all_optimizers().items():
            names.update({param.node: f"{key}{path}" for path, param in optimizer.target.namedparams(False)})
        return names


def _is_same_number(array: Array, observed: Array | float) -> bool:
    return np.size(array) == np.size(observed) == 1 and float(np.reshape(array, ())) == float(np.reshape(observed, ()))
