"""Extensions: callbacks of a trainer."""

import abc
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike

PRIORITY_WRITER = 300  # writes values to the observation
PRIORITY_EDITOR = 200  # changes values of the observation
PRIORITY_READER = 100  # reads the observation
PRIORITY_SNAPSHOT = -1000  # saves the state after all others


class AbstractExtension(abc.ABC):
    """Base class of extensions: callbacks that a trainer calls whenever their trigger fires.

    trigger: as for `Trainer.extend`; priority: higher ones are called earlier in an iteration
    default_name: its name in the trainer; None: the name of the class
    name: its name in the trainer, set by `Trainer.extend`
    The state that a resumed run needs is `state()`: a tree of dictionaries and lists of arrays, numbers, str, None.
    """

    trigger: "TriggerLike" = (1, "iteration")
    priority: int = PRIORITY_READER
    default_name: str | None = None
    name: str | None = None

    @abc.abstractmethod
    def __call__(self, trainer: "Trainer") -> object:
        """Runs the extension. Values for the observation go through `report` or into `trainer.observation`."""

    def restore(self, trainer: "Trainer") -> None:  # noqa: B027
        """Called first by `Trainer.run`, to load the trainer's state from a file."""

    def initialize(self, trainer: "Trainer") -> None:  # noqa: B027
        """Called once before training, after the state is loaded, if there is one."""

    def finalize(self) -> None:  # noqa: B027
        """Called once after training, also after an error."""

    def on_error(self, trainer: "Trainer", exception: Exception) -> None:  # noqa: B027
        """Called when an iteration raises an error, before it propagates; the iteration may be incomplete."""

    def on_interrupt(self, trainer: "Trainer") -> str | None:
        """Called when a signal ends training after a complete iteration; may return a line on how to resume."""
        return None

    def state(self) -> dict[str, Any]:
        """The state for `load_state`."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Restores a state."""


class FunctionExtension(AbstractExtension):
    """An extension made of a function of the trainer; see `make_extension`."""

    def __init__(
        self,
        function: Callable[["Trainer"], object],
        *,
        trigger: "TriggerLike" = (1, "iteration"),
        default_name: str | None = None,
        priority: int = PRIORITY_READER,
        initializer: Callable[["Trainer"], object] | None = None,
        finalizer: Callable[[], object] | None = None,
        on_error: Callable[["Trainer", Exception], object] | None = None,
    ):
        self.function = function
        self.trigger = trigger
        self.priority = priority
        named = function if isinstance(function, types.FunctionType) else type(function)
        self.default_name = named.__name__ if default_name is None else default_name
        self._initializer = initializer
        self._finalizer = finalizer
        self._on_error = on_error

    def __call__(self, trainer: "Trainer") -> object:
        return self.function(trainer)

    def initialize(self, trainer: "Trainer") -> None:
        if self._initializer is not None:
            self._initializer(trainer)

    def finalize(self) -> None:
        if self._finalizer is not None:
            self._finalizer()

    def on_error(self, trainer: "Trainer", exception: Exception) -> None:
        if self._on_error is not None:
            self._on_error(trainer, exception)


def make_extension(
    trigger: "TriggerLike" = (1, "iteration"),
    default_name: str | None = None,
    priority: int = PRIORITY_READER,
    *,
    initializer: Callable[["Trainer"], object] | None = None,
    finalizer: Callable[[], object] | None = None,
    on_error: Callable[["Trainer", Exception], object] | None = None,
) -> Callable[[Callable[["Trainer"], object]], FunctionExtension]:
    """Decorator that turns a function of the trainer into an extension; the arguments are the extension's attributes.

    >>> @make_extension(trigger=(1, "epoch"))
    ... def greet(trainer):
    ...     print("epoch", trainer.updater.epoch)
    """

    def decorate(function: Callable[["Trainer"], object]) -> FunctionExtension:
        return FunctionExtension(
            function,
            trigger=trigger,
            default_name=default_name,
            priority=priority,
            initializer=initializer,
            finalizer=finalizer,
            on_error=on_error,
        )

    return decorate
