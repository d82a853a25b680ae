"""Def-use chains of a graph, updated while a pass changes its records."""

from collections.abc import Collection

from cvzoo.graph.records import Graph, Record


class DefUseChains:
    """The writer and the readers of each value; built once per pass and updated by `put`.

    makers: the record that writes each value; readers: the records that read it, with repetitions
    """

    def __init__(self, graph: Graph):
        self.writers = graph.writers()
        self.readers = graph.readers()
        self._graph = graph
        self._outputs = frozenset(graph.outputs)

    def only_reader(self, value: int) -> Record | None:
        """The record that reads the value, if it is the only use."""
        readers = self.readers[value]
        return readers[0] if len(readers) == 1 and value not in self._outputs else None

    def put(self, new: Record, old: Record, removed: Collection[Record] = ()) -> None:
        """Replace the record `old` by `new`, and remove the records `removed`."""
        records = self._graph.records
        records[records.index(old)] = new
        for record in (old, *removed):
            if record is not old:
                records.remove(record)
            for value in record.all_writes:
                self.writers.pop(value, None)
            for value in record.all_reads:
                self.readers[value].remove(record)
        for value in new.all_writes:
            self.writers[value] = new
            self.readers.setdefault(value, [])
        for value in new.all_reads:
            self.readers.setdefault(value, []).append(new)
