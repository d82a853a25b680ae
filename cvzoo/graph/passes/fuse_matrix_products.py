"""Operator fusion: matrix product, scale and sum."""

import math
from typing import Any

from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.math.arithmetic import Add, MultiplyConstant
from cvzoo.functions.math.matmul import FusedMatMul, MatMul
from cvzoo.graph.def_use_chains import DefUseChains
from cvzoo.graph.records import Graph, Record

_SPREAD = 1 << 18  # elements: up to this size, a constant that is added to several matrices is repeated for each


def fuse_matrix_products(graph: Graph) -> int:
    """Fuse scales and sums into matrix products; returns the number of removed records."""
    before = len(graph.records)
    uses = DefUseChains(graph)
    for record in list(graph.records):
        fits = all(graph.is_fast(value) and len(graph.values[value].shape) > 1 for value in record.reads)
        if fits and isinstance(record.function, MatMul):
            record = _with_factors_before(uses, record)
            _with_sum(graph, uses, _with_factor_after(uses, record))
    graph.drop_unused()
    return before - len(graph.records)


def _with_factors_before(uses: DefUseChains, product: Record) -> Record:
    for side, value in enumerate(product.reads):
        maker = uses.writers.get(value)
        factor = _factor_of(maker)
        if maker is not None and factor is not None and uses.only_reader(value) is product:
            reads = (*product.reads[:side], maker.reads[0], *product.reads[side + 1 :])
            product = _put(uses, product, maker, product, reads, factor, product.writes)
    return product


def _with_factor_after(uses: DefUseChains, product: Record) -> Record:
    behind = uses.only_reader(product.writes[0])
    factor = _factor_of(behind)
    if behind is None or factor is None:
        return product
    return _put(uses, behind, product, product, product.reads, factor, behind.writes)


def _with_sum(graph: Graph, uses: DefUseChains, product: Record) -> None:
    behind = uses.only_reader(product.writes[0])
    if behind is not None and isinstance(behind.function, Add):
        added = _addend(graph, product, behind)
        if added is not None:
            _put(uses, behind, product, product, (*product.reads, added), 1.0, behind.writes)


def _factor_of(record: Record | None) -> float | None:
    """The constant that the record multiplies with; None if it does something else."""
    if record is None or not isinstance(record.function, MultiplyConstant):
        return None
    return float(record.function.value)


def _put(
    uses: DefUseChains,
    target: Record,
    removed: Record,
    product: Record,
    reads: tuple[int, ...],
    factor: float,
    writes: tuple[int, ...],
) -> Record:
    """Replace `target` by the product with an additional factor, and remove `removed`."""
    old: Any = product.function  # a MatMul or a FusedMatMul
    scale = float(factor) * (old.scale if isinstance(old, FusedMatMul) else 1.0)
    function = FusedMatMul(old.transa, old.transb, scale)
    new = Record(function, reads, writes, dict(vars(function)), target.seconds + removed.seconds)
    uses.put(new, target, (removed,))
    return new


def _addend(graph: Graph, product: Record, add: Record) -> int | None:
    """The value that is added, of the product's shape; None if the kernel does not support it."""
    y = product.writes[0]
    other = add.reads[1] if add.reads[0] == y else add.reads[0]
    shape = graph.values[y].shape
    if other == y or graph.values[other].dtype != graph.values[y].dtype or graph.values[add.writes[0]].shape != shape:
        return None
    if other not in graph.constants:
        return other if graph.values[other].shape == shape else None
    if graph.values[other].shape != shape and math.prod(shape) > _SPREAD:
        return None
    array = graph.constants[other]
    if array.shape == shape and array.flags.c_contiguous:
        return other
    xp = backend_of(array).xp
    return graph.add_constant(xp.ascontiguousarray(xp.broadcast_to(array, shape)))
