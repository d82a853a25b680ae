"""What nobody reads need not be computed."""

from cvzoo.graph.records import Graph


def dead_records(graph: Graph) -> int:
    """Take out records none of whose results is read or given out; how many they were."""
    needed = set(graph.outputs)
    kept = []
    for record in reversed(graph.records):
        if needed.intersection(record.writes):
            kept.append(record)
            needed.update(record.reads)
    dead = len(graph.records) - len(kept)
    graph.records = kept[::-1]
    graph.drop_unused()
    return dead
