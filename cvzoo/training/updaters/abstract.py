"""The base class of updaters."""

import abc
from collections.abc import Mapping
from typing import Any


class AbstractUpdater(abc.ABC):
    """Base class of updaters, which perform training steps and count them.

    iteration: number of steps; epoch, epoch_detail: number of epochs, without and with its fraction
    previous_epoch_detail: `epoch_detail` before the last step
    is_new_epoch: whether the last step completed an epoch
    """

    iteration: int

    @abc.abstractmethod
    def update(self) -> None:
        """Performs one step."""

    @property
    @abc.abstractmethod
    def epoch(self) -> int:
        """The number of completed epochs."""

    @property
    @abc.abstractmethod
    def epoch_detail(self) -> float:
        """The number of epochs with its fraction."""

    @property
    @abc.abstractmethod
    def previous_epoch_detail(self) -> float:
        """`epoch_detail` before the last step; 0 before the first."""

    @property
    @abc.abstractmethod
    def is_new_epoch(self) -> bool:
        """Whether the last step completed an epoch."""

    @abc.abstractmethod
    def get_optimizer(self, name: str) -> Any:  # an optimizer, whose hyperparameters are attributes
        """The optimizer of that name."""

    @abc.abstractmethod
    def get_all_optimizers(self) -> dict[str, Any]:
        """All optimizers by name."""

    def finalize(self) -> None:  # noqa: B027
        """Releases resources, such as the iterators' worker processes."""

    @abc.abstractmethod
    def state(self) -> dict[str, Any]:
        """The state for `load_state`; arrays may share memory with the models."""

    @abc.abstractmethod
    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a state."""
