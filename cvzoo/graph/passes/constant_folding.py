"""Constant folding."""

import numpy as np

from cvzoo.backends.dispatch import backend_of
from cvzoo.graph.records import Graph
from cvzoo.typing.aliases import Array


def constant_folding(graph: Graph) -> int:
    """Replace records that read only constants by their results; returns their number."""
    remaining = []
    for record in graph.records:
        if not record.reads or any(value not in graph.constants for value in record.reads):
            remaining.append(record)
            continue
        results = record.function.results_of(tuple([graph.constants[value] for value in record.reads]))
        for value, array in zip(record.writes, results):
            graph.constants[value] = _dense(np.asarray(array) if isinstance(array, np.generic) else array)
    folded = len(graph.records) - len(remaining)
    graph.records = remaining
    graph.drop_unused()
    return folded


def _dense(array: Array) -> Array:
    """The array, or a C-contiguous copy if kernels do not support its strides."""
    flags = array.flags
    if flags.c_contiguous or flags.f_contiguous or (array.ndim == 4 and array.transpose(0, 2, 3, 1).flags.c_contiguous):
        return array
    return backend_of(array).xp.ascontiguousarray(array)
