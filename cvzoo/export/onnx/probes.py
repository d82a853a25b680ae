"""A network's pass at several shapes of its input: what stays the same, and what follows the sizes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import GraphError
from cvzoo.export.onnx.onnx_graph import Shape
from cvzoo.export.onnx.sizes import SizeDependenceError
from cvzoo.graph.capture import Capture
from cvzoo.graph.records import Graph

_SEED = 20170615


class Probes:
    """The graphs of one call with inputs of several shapes.

    graphs: one per probe; all have the same records in the same order, and the same numbers of values
    """

    def __init__(self, call: Callable[[Any], Any], shapes: Sequence[tuple[int, ...]]):
        """Run the call once a shape, with noise. Raises GraphError or SizeDependenceError if it did other things."""
        self.graphs = [_graph_of(call, shape, k) for k, shape in enumerate(shapes)]
        first = self.graphs[0]
        for other in self.graphs[1:]:
            if _wiring(first) != _wiring(other):
                raise SizeDependenceError("which functions are called changes with the batch or the size")

    def shape_of(self, value: int) -> Shape:
        """The value's size along each axis, in each probe. Raises SizeDependenceError if its axes are not the same."""
        shapes = [graph.values[value].shape for graph in self.graphs]
        if len({len(shape) for shape in shapes}) > 1:
            raise SizeDependenceError("an array's number of axes changes with the batch or the size")
        return tuple(zip(*shapes))


def _wiring(graph: Graph) -> list[tuple]:
    return [(type(record.function), record.reads, record.writes) for record in graph.records]


def _graph_of(call: Callable[[Any], Any], shape: tuple[int, ...], k: int) -> Graph:
    x = np.random.default_rng(_SEED + k).normal(size=shape).astype(np.float32)
    capture = Capture()
    with using_config("train", False), no_backprop_mode():
        capture.follow(call, (Variable(x),), {})
    if capture.seen:
        raise GraphError(
            "ONNX: what this network computes next depends on numbers that Python reads", got=capture.seen[0]
        )
    return capture.graph
