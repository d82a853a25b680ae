"""The interface by which an optimizer exchanges gradients with other processes before it updates."""

import abc
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.autodiff.variable import Variable

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer


class AbstractGradientExchange(abc.ABC):
    """Base class of what an optimizer does with gradients before each update; `optimizer.exchange` is one, or None."""

    @abc.abstractmethod
    def backward(
        self,
        optimizer: "AbstractOptimizer",
        lossfun: Callable[..., Variable],
        args: tuple[Any, ...],
        kwds: Mapping[str, Any],
        is_last: bool,
    ) -> None:
        """Computes the gradients of `lossfun(*args, **kwds)` by `optimizer.backward`.

        is_last: an update follows; False: further gradients are accumulated first
        """

    @abc.abstractmethod
    def exchange(self, optimizer: "AbstractOptimizer") -> bool:
        """Replaces the gradients by those to update by; returns whether there are any to update by."""

    @abc.abstractmethod
    def state(self) -> dict[str, Any]:
        """The state that a resumed run needs."""

    @abc.abstractmethod
    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from a state."""
