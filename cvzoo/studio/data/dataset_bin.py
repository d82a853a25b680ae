"""Deleted data sets: their rows stay, without a name that others could want."""

from cvzoo.studio.data.library import DataLibrary
from cvzoo.studio.trash import AbstractBin, Trashed


class DatasetBin(AbstractBin):
    """The deleted data sets of a studio. data: its data sets"""

    def __init__(self, data: DataLibrary):
        self._data = data

    def items(self) -> list[Trashed]:
        return [
            Trashed(each.id, "data set", each.trashed_name, each.created_by, each.trashed_at or 0)
            for each in self._data.datasets.trashed()
        ]

    def restore(self, thing: str) -> bool:
        return self._data.datasets.restore(thing)

    def purge(self, thing: str) -> None:
        found = next((each for each in self._data.datasets.trashed() if each.id == thing), None)
        if found is not None:
            self._data.tasks.purge(found)
