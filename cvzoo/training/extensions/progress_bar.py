"""Progress bar of a training, with rate and remaining time."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from cvzoo.reporting.as_time import as_time
from cvzoo.training.extension import PRIORITY_READER, AbstractExtension
from cvzoo.training.pace import Pace
from cvzoo.training.triggers.get_trigger import get_stop_trigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike

_ON_TERMINAL, _ELSEWHERE = 0.2, 30.0  # seconds between two lines


class ProgressBar(AbstractExtension):
    """A progress bar that is rewritten on a terminal, and printed line by line elsewhere.

    As "[#####.....] 52.5 %, epoch 10.50, iteration 6300, main/loss 0.0413, 85.3 iterations a second, 1:07 left".

    training_length: such as (20, "epoch"); None: that of the trainer's stop trigger
    keys: values of the observation to show
    bar_length: in characters
    out: output stream; None: standard error
    interval: seconds between two lines; None: 0.2 on a terminal, 30 elsewhere
    clock: seconds, for tests; the trainer's should be the same

    The rate is that of updates; the remaining time includes validations. The first update of a process, in which
    workers start and kernels are selected, is left out.
    """

    trigger = (1, "iteration")
    priority = PRIORITY_READER - 20  # after what prints lines of its own
    default_name = "ProgressBar"

    def __init__(
        self,
        training_length: "TriggerLike" = None,
        *,
        keys: Sequence[str] = ("main/loss",),
        bar_length: int = 30,
        out: TextIO | None = None,
        interval: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._length = None if training_length is None else get_stop_trigger(training_length).training_length()
        self._keys = tuple(keys)
        self._bar_length = bar_length
        self._out = out
        self._interval = interval
        self._clock = clock
        self._shown = 0
        self._values: dict[str, Any] = {}
        self._said = 0.0
        self._last = 0.0  # when it was called last
        self._pace = Pace()

    def initialize(self, trainer: "Trainer") -> None:
        if self._length is None:
            self._length = trainer.stop_trigger.training_length()
        self._said = self._last = self._clock()
        self._pace = Pace()

    def __call__(self, trainer: "Trainer") -> None:
        self._values.update({key: trainer.observation[key] for key in self._keys if key in trainer.observation})
        out = sys.stderr if self._out is None else self._out
        rewrites = out.isatty()
        interval = (_ON_TERMINAL if rewrites else _ELSEWHERE) if self._interval is None else self._interval
        now = self._clock()
        share = self._share(trainer)
        self._measure(trainer, now, share)
        if now - self._said < interval and (share is None or share < 1):
            return
        self._said = now
        line = self._text(trainer, share)
        if rewrites:
            out.write("\r" + line.ljust(self._shown))
            self._shown = len(line)
        else:
            out.write(line + "\n")
        out.flush()

    def finalize(self) -> None:
        if self._shown:
            out = sys.stderr if self._out is None else self._out
            out.write("\n")
            out.flush()
            self._shown = 0

    def _share(self, trainer: "Trainer") -> float | None:
        if self._length is None:
            return None
        length, unit = self._length
        done = trainer.updater.iteration if unit == "iteration" else trainer.updater.epoch_detail
        return min(done / length, 1.0)

    def _measure(self, trainer: "Trainer", now: float, share: float | None) -> None:
        between = max(now - self._last - trainer.update_seconds, 0.0)
        self._last = now
        epochs = trainer.updater.epoch_detail
        self._pace.add(trainer.update_seconds, between, share, share / epochs if share and epochs else None)

    def _text(self, trainer: "Trainer", share: float | None) -> str:
        parts = []
        if share is not None:
            filled = int(share * self._bar_length)
            parts.append(f"[{'#' * filled}{'.' * (self._bar_length - filled)}] {100 * share:.1f} %")
        parts.append(f"epoch {trainer.updater.epoch_detail:.2f}, iteration {trainer.updater.iteration}")
        parts += [f"{key} {float(value):.4g}" for key, value in self._values.items()]
        each, left = self._pace.seconds_each, self._pace.seconds_left(share)
        if each:
            parts.append(f"{1 / each:.1f} iterations a second" if each <= 1 else f"{each:.1f} seconds each")
        if left is not None:
            parts.append(f"{as_time(left)} left")
        return ", ".join(parts)
