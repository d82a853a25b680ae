"""What hangs on a trainer: called when its trigger says so."""

import abc
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

PRIORITY_WRITER = 300  # puts values into the observation
PRIORITY_EDITOR = 200  # changes values of the observation
PRIORITY_READER = 100  # reads the observation
PRIORITY_SNAPSHOT = -1000  # stores what all others left


class AbstractExtension(abc.ABC):
    """Something that a trainer does beside updating; called with the trainer whenever its trigger fires.

    trigger: when, as `Trainer.extend` takes it; priority: larger ones are called earlier in an iteration
    default_name: what it is called in the trainer; None: its class's name
    name: what it is called there, set by `Trainer.extend`
    What a resumed run needs stands in `state()`: a tree of dictionaries and lists of arrays, numbers, texts, None.
    """

    trigger: Any = (1, "iteration")
    priority: int = PRIORITY_READER
    default_name: str | None = None
    name: str | None = None

    @abc.abstractmethod
    def __call__(self, trainer: "Trainer") -> Any:
        """Do it. Values for the observation go through `report` or into `trainer.observation`."""

    def restore(self, trainer: "Trainer") -> None:  # noqa: B027
        """Called first of all by `Trainer.run`: the place to load the trainer's state from a file."""

    def initialize(self, trainer: "Trainer") -> None:  # noqa: B027
        """Called once before training, after a state was loaded if there is one."""

    def finalize(self) -> None:  # noqa: B027
        """Called once after training, also after an error."""

    def on_error(self, trainer: "Trainer", exception: Exception) -> None:  # noqa: B027
        """Called when an iteration raised, before the error goes on; the iteration may be half done."""

    def on_interrupt(self, trainer: "Trainer") -> str | None:
        """Called when a signal ended training after a whole iteration; may return a line that says how to resume."""
        return None

    def state(self) -> dict[str, Any]:
        """What `load_state` needs to go on."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Go on from a state."""


class FunctionExtension(AbstractExtension):
    """An extension made of a function of the trainer; see `make_extension`."""

    def __init__(
        self,
        function: Callable[["Trainer"], Any],
        *,
        trigger: Any = (1, "iteration"),
        default_name: str | None = None,
        priority: int = PRIORITY_READER,
        initializer: Callable[["Trainer"], Any] | None = None,
        finalizer: Callable[[], Any] | None = None,
        on_error: Callable[["Trainer", Exception], Any] | None = None,
    ):
        self.function = function
        self.trigger = trigger
        self.priority = priority
        named = function if isinstance(function, types.FunctionType) else type(function)
        self.default_name = named.__name__ if default_name is None else default_name
        self._initializer = initializer
        self._finalizer = finalizer
        self._on_error = on_error

    def __call__(self, trainer: "Trainer") -> Any:
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
    trigger: Any = (1, "iteration"),
    default_name: str | None = None,
    priority: int = PRIORITY_READER,
    *,
    initializer: Callable[["Trainer"], Any] | None = None,
    finalizer: Callable[[], Any] | None = None,
    on_error: Callable[["Trainer", Exception], Any] | None = None,
) -> Callable[[Callable[["Trainer"], Any]], FunctionExtension]:
    """A decorator that makes an extension of a function of the trainer; the arguments are the extension's attributes.

    >>> @make_extension(trigger=(1, "epoch"))
    ... def greet(trainer):
    ...     print("epoch", trainer.updater.epoch)
    """

    def decorate(function: Callable[["Trainer"], Any]) -> FunctionExtension:
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
