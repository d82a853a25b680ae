"""Snapshots of a training on several ranks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.structures import from_plain, to_plain
from cvzoo.training.extension import PRIORITY_SNAPSHOT, AbstractExtension
from cvzoo.training.extensions.snapshot import Snapshot

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class MultiNodeCheckpointer(AbstractExtension):
    """Saves the state of rank 0, and resumes all ranks from it; made by `create_multi_node_checkpointer`."""

    priority = PRIORITY_SNAPSHOT
    default_name = "snapshot"

    def __init__(self, snapshot: Snapshot, comm: AbstractCommunicator):
        self._snapshot = snapshot
        self._comm = comm
        self.trigger = snapshot.trigger

    def __call__(self, trainer: "Trainer") -> None:
        if self._comm.rank == 0:
            self._snapshot(trainer)

    def restore(self, trainer: "Trainer") -> None:
        state = None
        if self._comm.rank == 0:
            self._snapshot.restore(trainer)
            state = None if trainer.is_before_training else to_plain(trainer.state())
        state = from_plain(self._comm.bcast_obj(state))
        if self._comm.rank and state is not None:
            trainer.load_state(state)  # its notes are about extensions that only rank 0 has

    def on_interrupt(self, trainer: "Trainer") -> str | None:
        return self._snapshot.on_interrupt(trainer) if self._comm.rank == 0 else None

    def state(self) -> dict[str, Any]:
        return self._snapshot.state()

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._snapshot.load_state(state)


def create_multi_node_checkpointer(snapshot: Snapshot, comm: AbstractCommunicator) -> MultiNodeCheckpointer:
    """An extension that saves a training on several ranks, and resumes it on any number of them.

    snapshot: made by `extensions.snapshot`; with autoload=True rank 0 reads the newest file and sends its state, so
        that only rank 0 needs the folder

    With `scatter_batches`, which all ranks count alike, no example is repeated or skipped. The resumed run has the same
    bits if the number of ranks is the same. Source: ChainerMN's function. Where we differ: one file, not one per rank.
    """
    return MultiNodeCheckpointer(snapshot, comm)
