"""The training loop."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.reporting.reporter import Reporter
from cvzoo.reporting.sign_of_life import sign_of_life
from cvzoo.training.as_extension import ExtensionLike, as_extension
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.interrupt import DeferredInterrupt
from cvzoo.training.output_folder import make_output_folder
from cvzoo.training.random_states import load_random_states, random_states
from cvzoo.training.triggers.abstract import AbstractTrigger
from cvzoo.training.triggers.get_trigger import get_stop_trigger, get_trigger
from cvzoo.training.updaters.abstract import AbstractUpdater
from cvzoo.typing.aliases import FilePath

if TYPE_CHECKING:
    from cvzoo.training.triggers.abstract import TriggerLike

_PARTS = {"updater", "stop_trigger", "extensions", "observation", "elapsed_time", "random_states"}


class _Entry(NamedTuple):
    given: ExtensionLike  # the argument of `extend`
    extension: AbstractExtension
    trigger: AbstractTrigger
    priority: int
    call_before_training: bool


class Trainer:
    """The training loop: updates until the stop trigger fires, and calls extensions when their triggers fire.

    updater: performs the training steps
    stop_trigger: such as (20, "epoch"), a trigger, or a function of the trainer that returns whether to stop
    out: the folder for the output of extensions; created by `run`
    extensions: added by `extend`, with their default settings
    clock: seconds, for tests
    comm: of a training on several ranks, which all stop after the same iteration if one receives a signal or its stop
        trigger fires; None: one process

    update_seconds: duration of the last update, without the extensions
    observation: the values reported in the iteration, by name: "main/loss", "validation/main/accuracy"

    >>> trainer = Trainer(updater, (20, "epoch"), out="result")
    >>> trainer.extend(LogReport())
    >>> trainer.run()

    After Ctrl-C, SIGTERM and SIGHUP the iteration is completed, extensions such as `snapshot` save it, and the run
    ends; a second signal ends it at once.
    Source: Chainer's Trainer. Where we differ: a pair as stop trigger means "until then", also for a resumed run;
    extensions of the same priority are called in the order in which they were added.
    """

    def __init__(
        self,
        updater: AbstractUpdater,
        stop_trigger: "TriggerLike" = None,
        out: FilePath = "result",
        extensions: Iterable[ExtensionLike] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        comm: AbstractCommunicator | None = None,
    ):
        self.updater = updater
        self.stop_trigger = get_stop_trigger(stop_trigger)
        self.out = os.fspath(out)
        self.observation: dict[str, Any] = {}
        self.reporter = Reporter()
        self._entries: dict[str, _Entry] = {}
        self.update_seconds = 0.0
        self._clock = clock
        self._comm = comm
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
        extension: ExtensionLike,
        name: str | None = None,
        trigger: "TriggerLike" = None,
        priority: int | None = None,
        call_before_training: bool = False,
    ) -> None:
        """Adds an extension to the trainer.

        extension: an AbstractExtension, an evaluator of `cvzoo.evaluations`, or a function of the trainer
        name: its name; None: its default name. The second one of a name is `name_1`
        trigger, priority: None: the extension's own
        call_before_training: call it once before the first update, too (not in a resumed run)
        """
        adapted = as_extension(extension)
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
                f"the trainer has no extension {name!r}", expected=", ".join(self._entries) or "none at all"
            )
        return self._entries[name].given

    def _ordered(self) -> list[_Entry]:
        return sorted(self._entries.values(), key=lambda entry: -entry.priority)

    # --- progress ---------------------------------------------------------------------------------------------------
    @property
    def elapsed_time(self) -> float:
        """Seconds of training, including the runs that this one resumes."""
        return self._elapsed + (0.0 if self._started is None else self._clock() - self._started)

    @property
    def is_before_training(self) -> bool:
        """Whether no update was made yet."""
        return self.updater.iteration == 0

    # --- the loop ---------------------------------------------------------------------------------------------------
    def run(self) -> None:
        """Train until the stop trigger fires.

        Raises the error of an update or an extension, after every extension's `on_error`; OSError, naming the folder,
        if `out` cannot be created or written; KeyboardInterrupt after Ctrl-C, SystemExit (143, 129) after SIGTERM and
        SIGHUP.
        """
        make_output_folder(self.out)
        entries = self._ordered()
        with contextlib.ExitStack() as ends:
            # all callbacks are called, even if one of them raises an error
            ends.callback(self.updater.finalize)
            for entry in reversed(entries):
                ends.callback(entry.extension.finalize)
            for entry in entries:
                entry.extension.restore(self)
            self._started = self._clock()
            ends.callback(self._stop_clock)
            interrupt = ends.enter_context(DeferredInterrupt())
            try:
                for entry in entries:
                    entry.extension.initialize(self)
                if self.is_before_training:
                    self._call_before_training(entries)
                self._loop(entries, interrupt)
            except Exception as error:
                for entry in entries:
                    entry.extension.on_error(self, error)
                raise
            if not self._finished:
                self._say_how_to_go_on(entries)
                raise interrupt.error()

    def _call_before_training(self, entries: list[_Entry]) -> None:
        self.observation = {}
        with self.reporter.scope(self.observation):
            for entry in entries:
                if entry.call_before_training:
                    entry.extension(self)

    def _loop(self, entries: list[_Entry], interrupt: DeferredInterrupt) -> None:
        # a resumed run calls its stop trigger with the observation of the last iteration, as an uninterrupted one does
        self._finished = False
        while not self._on_any_rank(interrupt.requested):
            sign_of_life(self.updater.iteration)
            if self._on_any_rank(self.stop_trigger(self)):
                self._finished = True
                if (reason := self.stop_trigger.reason()) is not None:
                    print(reason, file=sys.stderr)
                return
            self.observation = {}
            with self.reporter.scope(self.observation):
                start = self._clock()
                self.updater.update()
                self.update_seconds = self._clock() - start
                for entry in entries:
                    if entry.trigger(self):
                        entry.extension(self)

    def _on_any_rank(self, flag: bool) -> bool:
        """Whether it is set on any rank; signals and clocks are a rank's own, but all must stop together."""
        return flag if self._comm is None else bool(self._comm.allgather_equal(np.array([flag], np.uint8)).any())

    def _say_how_to_go_on(self, entries: list[_Entry]) -> None:
        if self._comm is not None and self._comm.rank:
            self._comm.barrier()  # its end would end rank 0, which is saving
            return
        iteration = self.updater.iteration
        lines = [line for entry in entries if (line := entry.extension.on_interrupt(self)) is not None]
        print(f"stopped after iteration {iteration}", file=sys.stderr)
        for line in lines or ["nothing was saved: extend the trainer with extensions.snapshot()"]:
            print(line, file=sys.stderr)
        if self._comm is not None:
            self._comm.barrier()

    def _stop_clock(self) -> None:
        self._elapsed, self._started = self.elapsed_time, None

    # --- resuming ---------------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """The complete state of training; arrays share memory with the models and optimizers."""
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
        """Restores a state: training continues with the iteration after it.

        Returns notes about extensions with a state that are only in this trainer, or only in `state`.
        Raises ValueRangeError or WeightsMismatchError if it is of a different training.
        """
        if not set(state) >= _PARTS:
            raise ValueRangeError("the state is not a trainer's", expected=sorted(_PARTS), got=list(state)[:9])
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
                notes.append(f"the extension {name!r} is not in the state: it starts from the beginning")
        for name, theirs in stored.items():
            if theirs["state"] or theirs["trigger"]:
                notes.append(f"the state's extension {name!r} is not in this trainer")
        self.observation = dict(state["observation"])
        self._elapsed = float(state["elapsed_time"])
        load_random_states(state["random_states"])
        return notes
