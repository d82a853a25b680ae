"""What was deleted and can be restored: for 30 days, then it is deleted for good."""

import abc
import dataclasses
from collections.abc import Sequence

from cvzoo.studio.clock import Clock

KEPT_MS = 30 * 24 * 3600 * 1000
INTERVAL_S = 600.0


@dataclasses.dataclass(frozen=True)
class Trashed:
    """A deleted thing. kind: in words, such as "training"; trashed_at: milliseconds since 1970"""

    id: str
    kind: str
    name: str
    created_by: str | None
    trashed_at: int


class AbstractBin(abc.ABC):
    """The deleted things of one kind. Each kind keeps the time of deletion in a column `trashed_at` of its own table.

    A further kind, such as data sets, is a subclass that `make_studio` gives to `Trash`; its page, its REST interface
    and its end after 30 days are then those of all others.
    """

    @abc.abstractmethod
    def items(self) -> list[Trashed]:
        """All of them."""

    @abc.abstractmethod
    def restore(self, thing: str) -> bool:
        """Takes it back; False if it is not there any more. Raises CvzooError if that is not possible now."""

    @abc.abstractmethod
    def purge(self, thing: str) -> None:
        """Deletes it for good; it may have been begun before."""


class Trash:
    """The trash of a studio. bins: one per kind"""

    def __init__(self, bins: Sequence[AbstractBin], clock: Clock):
        self._bins, self._clock = tuple(bins), clock

    def items(self) -> list[Trashed]:
        """All deleted things, the last one first."""
        found = [each for one in self._bins for each in one.items()]
        return sorted(found, key=lambda each: (-each.trashed_at, each.id))

    def find(self, thing: str) -> Trashed | None:
        """The deleted thing of an identifier."""
        return next((each for each in self.items() if each.id == thing), None)

    def restore(self, thing: str) -> bool:
        """Takes a thing back; False if it is not in the trash any more."""
        return any(one.restore(thing) for one in self._of(thing))

    def purge(self, thing: str) -> None:
        """Deletes a thing for good."""
        for one in self._of(thing):
            one.purge(thing)

    def due(self) -> list[Trashed]:
        """What has been in the trash for 30 days."""
        return [each for each in self.items() if each.trashed_at + KEPT_MS <= self._clock()]

    def tick(self) -> None:
        """Deletes for good what has been in the trash for 30 days."""
        for each in self.due():
            self.purge(each.id)

    def _of(self, thing: str) -> list[AbstractBin]:
        return [one for one in self._bins if any(each.id == thing for each in one.items())]
