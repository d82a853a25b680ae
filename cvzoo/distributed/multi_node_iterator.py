"""Batches that one rank reads and all ranks get."""

from collections.abc import Mapping
from typing import Generic, TypeVar

from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.structures import from_plain, to_plain
from cvzoo.iterators.abstract import AbstractIterator

Example = TypeVar("Example")


class MultiNodeIterator(Generic[Example]):
    """The batches of one rank's iterator on all ranks, with its epochs; made by `create_multi_node_iterator`.

    epoch, is_new_epoch, epoch_detail, previous_epoch_detail, current_position, next(), reset(), finalize(), state():
    those of the iterator
    """

    def __init__(self, actual: AbstractIterator[Example], comm: AbstractCommunicator, rank_master: int):
        self._actual = actual
        self._comm = comm
        self._master = rank_master
        self.batch_size = actual.batch_size
        self.repeat = actual.repeat
        self._share(None)

    def _share(self, batch: list[Example] | None) -> list[Example] | None:
        """The master's batch; copies its position, too."""
        message = None
        if self._comm.rank == self._master:
            it = self._actual
            position = it.epoch, it.is_new_epoch, it.epoch_detail, it.previous_epoch_detail, it.current_position
            message = to_plain((batch, position))
        batch, position = from_plain(self._comm.bcast_obj(message, self._master))
        self.epoch: int = position[0]
        self.is_new_epoch: bool = position[1]
        self.epoch_detail: float = position[2]
        self.previous_epoch_detail: float | None = position[3]
        self.current_position: int = position[4]
        return batch

    def __iter__(self) -> "MultiNodeIterator[Example]":
        return self

    def __next__(self) -> list[Example]:
        is_master = self._comm.rank == self._master
        batch = self._share(next(self._actual, None) if is_master else None)
        if batch is None:
            raise StopIteration
        return batch

    def next(self) -> list[Example]:
        """The next batch."""
        return self.__next__()

    def reset(self) -> None:
        """Restarts from the first epoch; called by all ranks."""
        self._actual.reset()
        self._share(None)

    def state(self) -> Mapping[str, int]:
        """The position of this rank's own iterator; the master's counts."""
        return self._actual.state()

    def load_state(self, state: Mapping[str, int]) -> None:
        """Resumes from a state; called by all ranks."""
        self._actual.load_state(state)
        self._share(None)

    def finalize(self) -> None:
        """Stops the workers of this rank's own iterator."""
        self._actual.finalize()


def create_multi_node_iterator(
    actual_iterator: AbstractIterator[Example], communicator: AbstractCommunicator, rank_master: int = 0
) -> MultiNodeIterator[Example]:
    """An iterator that returns the batches of rank `rank_master` on all ranks, for networks on several ranks.

    actual_iterator: only the master's is read; batches are sent: arrays, numbers, text, tuples and lists of those

    Source: ChainerMN's function. Where we differ: examples of any such kind, without pickles.
    """
    return MultiNodeIterator(actual_iterator, communicator, rank_master)
