"""Common subexpression elimination."""

from cvzoo.graph.records import Graph, Record
from cvzoo.graph.repeats import same_settings


def common_subexpressions(graph: Graph) -> int:
    """Remove records that repeat an earlier one; returns their number."""
    known: dict[tuple, list[Record]] = {}
    remaining: list[Record] = []
    same_as: dict[int, int] = {}
    merge_constants(graph)
    for record in graph.records:
        record.reads = tuple([same_as.get(value, value) for value in record.reads])
        alike = known.setdefault((type(record.function), record.reads, _scale_of(record)), [])
        first = next((each for each in alike if same_settings(each.settings, record.settings)), None)
        # outputs are not merged: a caller that writes into one result must not change another
        if first is None or set(record.writes) & set(graph.outputs):
            alike.append(record)
            remaining.append(record)
        else:
            same_as.update(zip(record.writes, first.writes))
    merged = len(graph.records) - len(remaining)
    graph.records = remaining
    graph.drop_unused()
    return merged


def _scale_of(record: Record) -> int | None:
    """The `id` of the scale of a convolution's filters, which is kept in their cache and is no setting."""
    settings = record.settings.get("_settings")
    pack = settings.get("pack") if isinstance(settings, dict) else None
    scale = getattr(pack, "scale", None)
    return None if scale is None else id(scale)


def merge_constants(graph: Graph) -> None:
    """Merge constants that are the same array."""
    first: dict[int, int] = {}
    for value, array in list(graph.constants.items()):
        number = first.setdefault(id(array), value)
        if number != value:
            graph.replace(value, number)
    graph.drop_unused()
