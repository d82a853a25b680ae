"""The mean of running statistics over the ranks of a training."""

from typing import TYPE_CHECKING

from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.links.link import Link
from cvzoo.training.extension import PRIORITY_WRITER, AbstractExtension

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class AllreducePersistent(AbstractExtension):
    """Gives all ranks the mean of the model's persistent arrays: batch normalization's running statistics.

    Not needed for a model of `create_mnbn_model`, whose statistics are the same on all ranks. Called before evaluators.
    Source: ChainerMN's extension.
    """

    trigger = (1, "epoch")
    priority = PRIORITY_WRITER + 1
    default_name = "AllreducePersistent"

    def __init__(self, model: Link, comm: AbstractCommunicator):
        self._model = model
        self._comm = comm

    def __call__(self, trainer: "Trainer") -> None:
        self._comm.allreduce_persistent(self._model)
