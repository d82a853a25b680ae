"""The training loop, and what hangs on it."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.reporting.reporter import Reporter
from cvzoo.training.evaluator_extension import EvaluatorExtension
from cvzoo.training.extension import AbstractExtension, FunctionExtension
from cvzoo.training.interrupt import InterruptWaits
from cvzoo.training.output_folder import make_output_folder
from cvzoo.training.random_states import load_random_states, random_states
from cvzoo.training.triggers.abstract import AbstractTrigger
from cvzoo.training.triggers.get_trigger import get_stop_trigger, get_trigger
from cvzoo.training.updaters.abstract import AbstractUpdater

_PARTS = {"updater", "stop_trigger", "extensions", "observation", "elapsed_time", "random_states"}


class _Entry(NamedTuple):
    given: Any  # what the user extended the trainer with
    extension: AbstractExtension
    trigger: AbstractTrigger
    priority: int
    call_before_training: bool


class Trainer:
    """Updates until the stop trigger fires; after each update the extensions whose triggers fire are called.

    updater: makes the steps
    stop_trigger: such as (20, "epoch"), a trigger, or a function of the trainer that says when to stop
    out: the folder for what extensions write; made by `run`
    extensions: what to `extend` with, each by its own settings
    clock: seconds, for tests

    update_seconds: how long the last update took, without the extensions
    observation: the values reported in the iteration, by name: "main/loss", "validation/main/accuracy"

    >>> trainer = Trainer(updater, (20, "epoch"), out="result")
    >>> trainer.extend(LogReport())
    >>> trainer.run()

    Ctrl-C, SIGTERM and SIGHUP finish the iteration, let extensions such as `snapshot` save it, and end the run; a
    second one ends it at once.
    Source: Chainer's contract. Where we differ: a pair as stop trigger means "until then", also for a run that goes on
    from a state; extensions of one priority are called in the order in which they came.
    """

    def __init__(
        self,
        updater: AbstractUpdater,
        stop_trigger: Any = None,
        out: str | os.PathLike = "result",
        extensions: Iterable[Any] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.updater = updater
        self.stop_trigger = get_stop_trigger(stop_trigger)
        self.out = os.fspath(out)
        self.observation: dict[str, Any] = {}
        self.reporter = Reporter()
        self._entries: dict[str, _Entry] = {}
        self.update_seconds = 0.0
        self._clock = clock
        self._elapsed = 0.0
        self._started: float | None = None
        self._finished = False
        for name, optimizer in updater.get_all_optimizers().items():
            self.reporter.add_observer(name, optimizer.target)
            self.reporter.add_observers(name, optimizer.target.namedlinks(skipself=True))
        for extension in extensions or ():
            self.extend(extension)

    # --- extensions -------------------------------------------------------------------------------------------------
    def extend(
        self,
        extension: Any,
        name: str | None = None,
        trigger: Any = None,
        priority: int | None = None,
        call_before_training: bool = False,
    ) -> None:
        """Hang an extension on the trainer.

        extension: an AbstractExtension, an evaluator of `cvzoo.evaluations`, or a function of the trainer
        name: what to call it; None: its default name. The second of a name is called `name_1`
        trigger, priority: None: the extension's own
        call_before_training: call it once before the first update, too (not in a run that goes on)
        """
        adapted = _as_extension(extension)
        name = name or adapted.name or adapted.default_name or type(adapted).__name__
        unique, ordinal = name, 0
        while unique in self._entries:
            ordinal += 1
            unique = f"{name}_{ordinal}"
        adapted.name = unique
        self._entries[unique] = _Entry(
            extension,
            adapted,
            get_trigger(adapted.trigger if trigger is None else trigger),
            adapted.priority if priority is None else priority,
            call_before_training,
        )

    def get_extension(self, name: str) -> Any:
        """The extension of that name. Raises ValueRangeError if there is none."""
        if name not in self._entries:
            raise ValueRangeError(
                f"no extension is called {name!r}", expected=", ".join(self._entries) or "none at all"
            )
        return self._entries[name].given

    def _ordered(self) -> list[_Entry]:
        return sorted(self._entries.values(), key=lambda entry: -entry.priority)

    # --- where it stands --------------------------------------------------------------------------------------------
    @property
    def elapsed_time(self) -> float:
        """Seconds of training, of all runs that this one goes on from, too."""
        return self._elapsed + (0.0 if self._started is None else self._clock() - self._started)

    @property
    def is_before_training(self) -> bool:
        """Whether no update was made yet."""
        return self.updater.iteration == 0

    # --- the loop ---------------------------------------------------------------------------------------------------
    def run(self) -> None:
        """Train until the stop trigger fires.

        Raises what an update or an extension raises, after every extension's `on_error`; OSError, naming the folder,
        if `out` cannot be made or written to; KeyboardInterrupt after Ctrl-C, SystemExit (143, 129) after SIGTERM and
        SIGHUP.
        """
        make_output_folder(self.out)
        entries = self._ordered()
        with contextlib.ExitStack() as ends:
            # all of these are called, whatever goes wrong in one of them
            ends.callback(self.updater.finalize)
            for entry in reversed(entries):
                ends.callback(entry.extension.finalize)
            for entry in entries:
                entry.extension.restore(self)
            self._started = self._clock()
            ends.callback(self._stop_clock)
            waits = ends.enter_context(InterruptWaits())
            try:
                for entry in entries:
                    entry.extension.initialize(self)
                if self.is_before_training:
                    self._call_before_training(entries)
                self._loop(entries, waits)
            except Exception as error:
                for entry in entries:
                    entry.extension.on_error(self, error)
                raise
            if waits.asked and not self._finished:
                self._say_how_to_go_on(entries)
                raise waits.error()

    def _call_before_training(self, entries: list[_Entry]) -> None:
        self.observation = {}
        with self.reporter.scope(self.observation):
            for entry in entries:
                if entry.call_before_training:
                    entry.extension(self)

    def _loop(self, entries: list[_Entry], waits: InterruptWaits) -> None:
        # a run that goes on asks its stop trigger with the observation of the last iteration, as if it had not stopped
        self._finished = False
        while not waits.asked:
            if self.stop_trigger(self):
                self._finished = True
                return
            self.observation = {}
            with self.reporter.scope(self.observation):
                start = self._clock()
                self.updater.update()
                self.update_seconds = self._clock() - start
                for entry in entries:
                    if entry.trigger(self):
                        entry.extension(self)

    def _say_how_to_go_on(self, entries: list[_Entry]) -> None:
        iteration = self.updater.iteration
        lines = [line for entry in entries if (line := entry.extension.on_interrupt(self)) is not None]
        print(f"stopped after iteration {iteration}", file=sys.stderr)
        for line in lines or ["nothing was saved: extend the trainer with extensions.snapshot()"]:
            print(line, file=sys.stderr)

    def _stop_clock(self) -> None:
        self._elapsed, self._started = self.elapsed_time, None

    # --- going on ---------------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """All that a run needs to go on; arrays share memory with the models and optimizers."""
        return {
            "updater": self.updater.state(),
            "stop_trigger": self.stop_trigger.state(),
            "extensions": {
                name: {"state": entry.extension.state(), "trigger": entry.trigger.state()}
                for name, entry in self._entries.items()
            },
            "observation": dict(self.observation),
            "elapsed_time": self.elapsed_time,
            "random_states": random_states(),
        }

    def load_state(self, state: Mapping[str, Any]) -> list[str]:
        """Go on from a state: the next iteration is the one that would have come then.

        Returns lines about extensions with a state that are only here, and begin anew, or only in `state`.
        Raises ValueRangeError or WeightsMismatchError if it is of another training.
        """
        if not set(state) >= _PARTS:
            raise ValueRangeError("not a trainer's state", expected=sorted(_PARTS), got=list(state)[:9])
        self.updater.load_state(state["updater"])
        self.stop_trigger.load_state(state["stop_trigger"])
        notes = []
        stored = dict(state["extensions"])
        for name, entry in self._entries.items():
            mine = stored.pop(name, None)
            if mine is not None:
                entry.extension.load_state(mine["state"])
                entry.trigger.load_state(mine["trigger"])
            elif entry.extension.state() or entry.trigger.state():
                notes.append(f"the extension {name!r} is not in the state: it begins anew")
        for name, theirs in stored.items():
            if theirs["state"] or theirs["trigger"]:
                notes.append(f"the state's extension {name!r} is not in this trainer")
        self.observation = dict(state["observation"])
        self._elapsed = float(state["elapsed_time"])
        load_random_states(state["random_states"])
        return notes


def _as_extension(extension: Any) -> AbstractExtension:
    if isinstance(extension, AbstractExtension):
        return extension
    if isinstance(extension, AbstractEvaluator):
        return EvaluatorExtension(extension)
    if callable(extension):
        return FunctionExtension(extension)
    raise ValueRangeError(
        "a trainer is extended with an extension, an evaluator or a function", got=type(extension).__name__
    )
