"""Optimizer hooks: callables that run at every update."""

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.autodiff.parameter import Parameter

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer


class AbstractOptimizerHook(abc.ABC):
    """Base class of optimizer hooks, called before the update ("pre", with gradients) or after it ("post").

    name: of the hook in the optimizer
    timing: "pre" or "post"
    freezes: whether `is_frozen` may exclude parameters from updates
    sees_gradients: whether a "pre" hook reads gradients, so that earlier hooks must write theirs
    runs_on_device: whether it may be called although a GPU skips the update (`loss_scaling`)
    """

    name: str
    timing = "pre"
    freezes = False
    sees_gradients = True
    runs_on_device = False

    @abc.abstractmethod
    def __call__(self, optimizer: "AbstractOptimizer") -> None:
        """Run the hook."""

    def is_frozen(self, path: str, param: Parameter, t: int) -> bool:
        """Whether the parameter is excluded from the update after t updates; called only if `freezes`."""
        return False

    def left_out(self, count: int) -> None:  # noqa: B027 - most hooks do not count
        """Called with the number of updates that a GPU skipped although the hook was called for them."""

    def state(self) -> dict[str, Any]:
        """The state that a resumed run needs."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:  # noqa: B027 - most hooks have no state
        """Resume from a state."""
