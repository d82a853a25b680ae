"""Operator fusion: chains of element-wise functions."""

import math
from typing import Any, NamedTuple

import numpy as np

from cvzoo.functions.math.arithmetic import (
    Add,
    AddConstant,
    Divide,
    DivideByConstant,
    Multiply,
    MultiplyConstant,
    Negative,
    Subtract,
    SubtractConstant,
    SubtractFromConstant,
)
from cvzoo.functions.math.elementwise import AbstractElementwise, AbstractElementwiseOfOutput, ElementwiseChain
from cvzoo.functions.normalization.fixed_batch_normalization import FixedBatchNormalization
from cvzoo.graph.def_use_chains import DefUseChains
from cvzoo.graph.records import Graph, Record

_BOTH_WAYS = {Add: "add", Multiply: "multiply"}
_ONE_WAY = {Subtract: "subtract", Divide: "divide"}
_LINEAR = {
    AddConstant: lambda c: (1.0, c),
    SubtractConstant: lambda c: (1.0, -c),
    SubtractFromConstant: lambda c: (-1.0, c),
    MultiplyConstant: lambda c: (c, 0.0),
    DivideByConstant: lambda c: (1 / c, 0.0) if c else None,
}


_FEW = 1 << 11  # elements per image, see the backend's eltwise


class _Link(NamedTuple):
    """A record as element-wise steps on the value `source`, with the other operands' values."""

    source: int
    steps: tuple[tuple, ...]
    others: tuple[int, ...]


def fuse_elementwise(graph: Graph) -> int:
    """Fuse chains of element-wise functions into one record; returns the number of changed records.

    A normalization with constant statistics is a product and a sum. A ReLU in a chain may turn NaN into 0.
    """
    changed = 0
    handled: set[int] = set()
    uses = DefUseChains(graph)
    for record in list(graph.records):
        if id(record) in handled:
            continue
        links, last = [], record
        link = _link(graph, record, None)
        while link is not None:
            links.append(link)
            handled.add(id(last))
            following = uses.only_reader(last.writes[0])
            link = None if following is None else _link(graph, following, last.writes[0])
            last = last if link is None or following is None else following
        if len(links) > 1 or (links and _runs_in_numpy(graph, record)):
            _put(uses, record, last, links)
            changed += len(links)
    graph.drop_unused()
    return changed


def _runs_in_numpy(graph: Graph, record: Record) -> bool:
    """Whether NumPy computes the record: there is no kernel, or it has few elements."""
    if type(record.function) in (*_LINEAR, *_ONE_WAY, Negative):
        return True
    few = math.prod(graph.values[record.writes[0]].shape[1:]) < _FEW
    return few and isinstance(record.function, AbstractElementwise | AbstractElementwiseOfOutput)


def _link(graph: Graph, record: Record, source: int | None) -> _Link | None:
    """The record as element-wise steps of the value `source` (None: of any operand); None if it is no such function."""
    function, reads = record.function, record.reads
    values = graph.values
    if len({values[value].dtype for value in (*reads, *record.writes)}) > 1 or not graph.is_fast(record.writes[0]):
        return None
    shape = values[record.writes[0]].shape
    if isinstance(function, AbstractElementwise | AbstractElementwiseOfOutput):
        return _Link(reads[0], ((function.kind, float(function.alpha), float(function.beta)),), ())
    if isinstance(function, Negative):
        return _Link(reads[0], (("linear", -1.0, 0.0),), ())
    value: Any = getattr(function, "value", None)
    numbers = _LINEAR[type(function)](float(value)) if type(function) in _LINEAR else None
    if numbers is not None:
        return _Link(reads[0], (("linear", *numbers),), ())
    if isinstance(function, FixedBatchNormalization):
        return _normalization(graph, record)
    kind = _BOTH_WAYS.get(type(function)) or _ONE_WAY.get(type(function))
    if kind is None or reads[0] == reads[1] or any(len(values[value].shape) != len(shape) for value in reads):
        return None
    for x, other in (reads, reads[::-1]) if type(function) in _BOTH_WAYS else (reads,):
        if values[x].shape == shape and source in (None, x):
            return _Link(x, ((kind,),), (other,))
    return None


def _normalization(graph: Graph, record: Record) -> _Link | None:
    x, *statistics = record.reads
    if any(value not in graph.constants for value in statistics):
        return None
    gamma, beta, mean, var = (graph.constants[value].astype(np.float64) for value in statistics)
    # in float64: one rounding instead of four
    scale = gamma / np.sqrt(var + vars(record.function)["_eps"])
    rank = len(graph.values[x].shape)
    vectors = [v.astype(np.float32).reshape(1, -1, *[1] * (rank - 2)) for v in (scale, beta - mean * scale)]
    return _Link(x, (("multiply",), ("add",)), tuple([graph.add_constant(v) for v in vectors]))


def _put(uses: DefUseChains, first: Record, last: Record, links: list[_Link]) -> None:
    """Replace `last` by one record, and remove those before it."""
    steps = tuple([step for link in links for step in link.steps])
    others = tuple([other for link in links for other in link.others])
    removed, record = [first], first
    while record is not last:
        reader = uses.only_reader(record.writes[0])
        assert reader is not None  # `last` is one of them
        record = reader
        removed.append(record)
    function = ElementwiseChain(steps)
    seconds = sum([each.seconds for each in removed])
    reads = (links[0].source, *others)
    uses.put(Record(function, reads, last.writes, dict(vars(function)), seconds), last, removed[:-1])
