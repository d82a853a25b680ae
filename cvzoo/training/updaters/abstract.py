"""One step of training."""

import abc
from collections.abc import Mapping
from typing import Any


class AbstractUpdater(abc.ABC):
    """Makes steps, and knows how many were made.

    iteration: steps done; epoch, epoch_detail: times that the data were seen, with its fraction
    previous_epoch_detail: `epoch_detail` before the last step
    is_new_epoch: whether the last step finished an epoch
    """

    iteration: int

    @abc.abstractmethod
    def update(self) -> None:
        """Make one step."""

    @property
    @abc.abstractmethod
    def epoch(self) -> int:
        """How many times all examples were seen."""

    @property
    @abc.abstractmethod
    def epoch_detail(self) -> float:
        """The epoch with its fraction."""

    @property
    @abc.abstractmethod
    def previous_epoch_detail(self) -> float:
        """`epoch_detail` before the last step; 0 before the first."""

    @property
    @abc.abstractmethod
    def is_new_epoch(self) -> bool:
        """Whether the last step finished an epoch."""

    @abc.abstractmethod
    def get_optimizer(self, name: str) -> Any:
        """The optimizer of that name."""

    @abc.abstractmethod
    def get_all_optimizers(self) -> dict[str, Any]:
        """All optimizers by name."""

    def finalize(self) -> None:  # noqa: B027
        """End what was started, such as the iterators' processes."""

    @abc.abstractmethod
    def state(self) -> dict[str, Any]:
        """What `load_state` needs to go on; arrays may share memory with the models'."""

    @abc.abstractmethod
    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
