"""What depends on constants alone is computed once."""

import numpy as np

from cvzoo.graph.records import Graph


def constant_folding(graph: Graph) -> int:
    """Replace records that read constants only by their results; how many they were."""
    kept = []
    for record in graph.records:
        if not record.reads or any(value not in graph.constants for value in record.reads):
            kept.append(record)
            continue
        results = record.function.forward(tuple([graph.constants[value] for value in record.reads]))
        for value, array in zip(record.writes, results):
            graph.constants[value] = np.asarray(array)
    folded = len(graph.records) - len(kept)
    graph.records = kept
    graph.drop_unused()
    return folded
