"""Who makes and who reads the values of a graph, while a pass changes its records."""

from collections.abc import Collection

from cvzoo.graph.records import Graph, Record


class Uses:
    """Looked up once for a pass, and kept right by `put`, so that nothing is searched for again after each change.

    makers: who makes a value; readers: who reads it, as often as it does
    """

    def __init__(self, graph: Graph):
        self.makers = graph.makers()
        self.readers = graph.readers()
        self._graph = graph
        self._outputs = frozenset(graph.outputs)

    def only_reader(self, value: int) -> Record | None:
        """The record that reads the value, if there is one, and nobody else needs it."""
        readers = self.readers[value]
        return readers[0] if len(readers) == 1 and value not in self._outputs else None

    def put(self, new: Record, place: Record, gone: Collection[Record] = ()) -> None:
        """Let `new` stand in the place of the record `place`, and the records `gone` go."""
        records = self._graph.records
        records[records.index(place)] = new
        for record in (place, *gone):
            if record is not place:
                records.remove(record)
            for value in record.all_writes:
                self.makers.pop(value, None)
            for value in record.all_reads:
                self.readers[value].remove(record)
        for value in new.all_writes:
            self.makers[value] = new
            self.readers.setdefault(value, [])
        for value in new.all_reads:
            self.readers.setdefault(value, []).append(new)
