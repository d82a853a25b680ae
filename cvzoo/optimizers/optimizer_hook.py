"""Optimizer hooks: callables that run at every update."""

import abc
from collections.abc import Mapping
from typing import Any

from cvzoo.autodiff.parameter import Parameter


class AbstractOptimizerHook(abc.ABC):
    """Something done before the update ("pre": gradients are there) or after it ("post").

    name: how the hook is found again
    timing: "pre" or "post"
    freezes: whether `is_frozen` may keep parameters from being updated
    sees_gradients: whether a "pre" hook looks at gradients, which those before it then really change
    runs_on_device: whether it does no harm where a GPU alone knows that an update is left out (`loss_scaling`)
    """

    name: str
    timing = "pre"
    freezes = False
    sees_gradients = True
    runs_on_device = False

    @abc.abstractmethod
    def __call__(self, optimizer: Any) -> None:
        """Do it."""

    def is_frozen(self, path: str, param: Parameter, t: int) -> bool:
        """Whether the parameter is not to be updated now, after t updates; asked only if `freezes`."""
        return False

    def left_out(self, count: int) -> None:  # noqa: B027 - most hooks do not count
        """A GPU has left out that many of the updates that the hook was called for."""

    def replays(self, optimizer: Any) -> bool:
        """Whether a captured graph with this hook in it does what the hook would do now."""
        return False

    def state(self) -> dict[str, Any]:
        """What a resumed run needs of it."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:  # noqa: B027 - most hooks remember nothing
        """Go on from a state."""
