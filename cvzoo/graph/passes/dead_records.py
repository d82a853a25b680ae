"""What nobody reads need not be computed."""

from cvzoo.graph.records import Graph


def dead_records(graph: Graph) -> int:
    """Take out records none of whose results is read or given out, and that change nothing else; how many they were."""
    needed = set(graph.outputs)
    kept = []
    for record in reversed(graph.records):
        if record.function.effect is not None or needed.intersection(record.all_writes):
            kept.append(record)
            needed.update(record.all_reads)
    dead = len(graph.records) - len(kept)
    graph.records = kept[::-1]
    graph.drop_unused()
    return dead
