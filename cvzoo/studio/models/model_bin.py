"""Deleted models that users had uploaded; those of runs are deleted with their run."""

from cvzoo.studio.models.register import Register
from cvzoo.studio.trash import AbstractBin, Trashed


class ModelBin(AbstractBin):
    """The deleted uploaded models of a studio. register: of its models"""

    def __init__(self, register: Register):
        self._register = register

    def items(self) -> list[Trashed]:
        return [
            Trashed(each.id, "model", each.name, each.created_by, each.trashed_at or 0)
            for each in self._register.uploaded(is_trashed=True)
        ]

    def restore(self, thing: str) -> bool:
        return self._register.trash(thing, is_trashed=False)

    def purge(self, thing: str) -> None:
        self._register.remove(thing, is_trashed=True)
