"""Dead code elimination."""

from cvzoo.graph.records import Graph


def dead_records(graph: Graph) -> int:
    """Remove records without used results or side effects; returns their number."""
    needed = set(graph.outputs)
    remaining = []
    for record in reversed(graph.records):
        is_needed = not needed.isdisjoint(record.writes) or not needed.isdisjoint(record.hidden_writes.values())
        if is_needed or record.function.effect is not None:
            remaining.append(record)
            needed.update(record.reads, record.hidden_reads.values())
    dead = len(graph.records) - len(remaining)
    graph.records = remaining[::-1]
    graph.drop_unused()
    return dead
