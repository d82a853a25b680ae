"""Conversion of a network's recorded functions to operators of an ONNX graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import GraphError, UnsupportedError
from cvzoo.export.onnx.converters import (
    activation,
    arithmetic,
    arrays,
    connection,
    indexing,
    normalization,
    pooling,
    resizing,
)
from cvzoo.export.onnx.onnx_graph import OnnxGraph, Shape
from cvzoo.export.onnx.sizes import SizeDependenceError
from cvzoo.export.onnx.step import Step
from cvzoo.graph.capture import Capture
from cvzoo.graph.passes.fold_batch_normalization import fold_scales
from cvzoo.graph.records import Graph

_SEED = 20170615

Network: TypeAlias = Callable[[Variable], Variable | Sequence[Variable]]  # from x (B, C, H, W) its outputs


class Probes:
    """Recorded graphs of one call with inputs of several shapes.

    graphs: one per probe; all have the same records in the same order, and the same value ids
    """

    def __init__(self, call: Network, shapes: Sequence[tuple[int, ...]]):
        """Run the call once per shape, on noise. Raises GraphError or SizeDependenceError if its functions differ."""
        self.graphs = [_graph_of(call, shape, k) for k, shape in enumerate(shapes)]
        products: dict[tuple[int, int], np.ndarray] = {}
        for graph in self.graphs:
            fold_scales(graph, products)
        first = self.graphs[0]
        for other in self.graphs[1:]:
            if _wiring(first) != _wiring(other):
                raise SizeDependenceError("which functions are called changes with the batch or the size")

    def shape_of(self, value: int) -> Shape:
        """The value's shape in each probe. Raises SizeDependenceError if its number of axes differs."""
        shapes = [graph.values[value].shape for graph in self.graphs]
        if len({len(shape) for shape in shapes}) > 1:
            raise SizeDependenceError("an array's number of axes changes with the batch or the size")
        return tuple(zip(*shapes))


def _wiring(graph: Graph) -> list[tuple]:
    return [(type(record.function), record.reads, record.writes) for record in graph.records]


def _graph_of(call: Network, shape: tuple[int, ...], k: int) -> Graph:
    x = np.random.default_rng(_SEED + k).normal(size=shape).astype(np.float32)
    capture = Capture()
    with using_config("train", False), no_backprop_mode():
        capture.follow(call, (Variable(x),), {})
    if capture.reasons:
        raise GraphError("ONNX: Python code of this network depends on array values", got=capture.reasons[0])
    return capture.graph


CONVERTERS = {
    **activation.CONVERTERS,
    **arithmetic.CONVERTERS,
    **arrays.CONVERTERS,
    **connection.CONVERTERS,
    **indexing.CONVERTERS,
    **normalization.CONVERTERS,
    **pooling.CONVERTERS,
    **resizing.CONVERTERS,
}


def add_network(
    g: OnnxGraph,
    x: str,
    call: Network,
    shapes: Sequence[tuple[int, ...]],
    *,
    names: Mapping[str, np.ndarray],
) -> tuple[str, ...]:
    """Add the functions that `call` applies to x to the graph; returns the names of its outputs.

    shapes: of x, one per probe: sizes that differ between them are dynamic
    names: parameters by name, which become the names of the file's constants
    Raises UnsupportedError for a function without a converter, SizeDependenceError for one whose settings depend on
    the size, GraphError where Python code reads values.
    """
    return _Conversion(g, x, Probes(call, shapes), names).run()


class _Conversion:
    def __init__(self, g: OnnxGraph, x: str, probes: Probes, names: Mapping[str, np.ndarray]):
        self._g = g
        self._probes = probes
        self._known: dict[int, str] = {}
        self._names = {_identity(array): name for name, array in names.items()}
        (number,) = probes.graphs[0].inputs
        g.forget_shapes()
        self._record_shape(number, x)

    def run(self) -> tuple[str, ...]:
        graphs = self._probes.graphs
        for index, records in enumerate(zip(*[graph.records for graph in graphs])):
            first = records[0]
            converter = CONVERTERS.get(type(first.function))
            step = Step(
                index=index,
                records=records,
                inputs=tuple([self._name(value) for value in first.reads]),
                in_shapes=tuple([self._probes.shape_of(value) for value in first.reads]),
                out_shapes=tuple([self._probes.shape_of(value) for value in first.writes]),
            )
            if converter is None:
                raise UnsupportedError(f"ONNX: no operator is known for {step.label}")
            for value, name in zip(first.writes, converter(self._g, step)):
                self._record_shape(value, name)
        return tuple([self._name(value) for value in graphs[0].outputs])

    def _record_shape(self, value: int, name: str) -> None:
        self._known[value] = name
        self._g.record_shape(name, self._probes.shape_of(value))

    def _name(self, value: int) -> str:
        if value not in self._known:
            self._known[value] = self._constant(value)
        return self._known[value]

    def _constant(self, value: int) -> str:
        """A constant of the network: equal in all probes, or one row that is repeated along the input's axes."""
        arrays = [graph.constants[value] for graph in self._probes.graphs]
        array = arrays[0]
        if array.dtype == np.float64:
            raise UnsupportedError("ONNX: the network computes in float64, the file would in float32")
        shape = self._probes.shape_of(value)
        rows = [_without_repeats(each, shape) for each in arrays]
        if any(_identity(each) != _identity(rows[0]) and not np.array_equal(each, rows[0]) for each in rows[1:]):
            raise SizeDependenceError(
                "numbers that are computed outside of functions change with the batch or the size"
            )
        name = self._g.constant(rows[0], self._names.get(_identity(array)))
        return name if rows[0] is array else self._g.add("Expand", [name, self._g.shape(shape)])


def _identity(array: np.ndarray) -> tuple:
    return array.__array_interface__["data"][0], array.shape, array.strides


def _without_repeats(array: np.ndarray, shape: Shape) -> np.ndarray:
    """The array with size 1 along the axes that depend on the input's size, if it is constant along them."""
    for axis, sizes in enumerate(shape):
        if len(set(sizes)) > 1:
            one = array.take([0], axis)
            if not (array == one).all():
                raise SizeDependenceError("an array made outside of functions follows the batch or the size")
            array = one
    return array
