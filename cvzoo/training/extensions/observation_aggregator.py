"""Means of observed values over the ranks of a training."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.reporting.summary import DictSummary
from cvzoo.training.extension import PRIORITY_EDITOR, AbstractExtension

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class ObservationAggregator(AbstractExtension):
    """Replaces values of the observation by their means over all ranks.

    comm: the communicator
    keys: such as ("main/loss",); None: all numbers that every rank has observed

    Reporters see the means, since they are called later. All ranks need this extension, with the same trigger.
    Source: ChainerMN's extension.
    """

    priority = PRIORITY_EDITOR
    default_name = "ObservationAggregator"

    def __init__(self, comm: AbstractCommunicator, keys: Sequence[str] | None = None):
        self._comm = comm
        self._keys = None if keys is None else tuple(keys)

    def __call__(self, trainer: "Trainer") -> None:
        mine = DictSummary()
        mine.add({key: value for key, value in trainer.observation.items() if self._keys is None or key in self._keys})
        everyone = self._comm.allgather_obj(mine.compute_mean())
        for key in everyone[0]:
            if all(key in each for each in everyone):
                trainer.observation[key] = sum(each[key] for each in everyone) / len(everyone)
