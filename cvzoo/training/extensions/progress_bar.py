"""How far training is, how fast, and how long the rest will take."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from cvzoo.reporting.as_time import as_time
from cvzoo.training.extension import PRIORITY_READER, AbstractExtension
from cvzoo.training.triggers.get_trigger import get_stop_trigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

_ON_TERMINAL, _ELSEWHERE = 0.2, 30.0  # seconds between two lines
_MEMORY = 0.9  # how much of the older rate stays at each line, so that it follows but does not jump


class ProgressBar(AbstractExtension):
    """A line that is rewritten on a terminal, a plain line now and then elsewhere.

    As "[#####.....] 52.5 %, epoch 10.50, iteration 6300, main/loss 0.0413, 85.3 iterations a second, 1:07 left".

    training_length: such as (20, "epoch"); None: what the trainer's stop trigger says
    keys: values of the observation to show
    bar_length: letters
    out: where to; None: standard error
    interval: seconds between two lines; None: 0.2 on a terminal, 30 elsewhere
    clock: seconds, for tests
    """

    trigger = (1, "iteration")
    priority = PRIORITY_READER - 20  # after what prints lines of its own
    default_name = "ProgressBar"

    def __init__(
        self,
        training_length: Any = None,
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
        self._last: tuple[float, int, float] | None = None  # seconds, iteration and share at the last line
        self._seconds_each: float | None = None
        self._share_a_second: float | None = None

    def initialize(self, trainer: "Trainer") -> None:
        if self._length is None:
            self._length = trainer.stop_trigger.training_length()
        now = self._clock()
        self._said = now
        self._last = now, trainer.updater.iteration, self._share(trainer) or 0.0

    def __call__(self, trainer: "Trainer") -> None:
        self._values.update({key: trainer.observation[key] for key in self._keys if key in trainer.observation})
        out = sys.stderr if self._out is None else self._out
        rewrites = out.isatty()
        interval = (_ON_TERMINAL if rewrites else _ELSEWHERE) if self._interval is None else self._interval
        now = self._clock()
        share = self._share(trainer)
        if now - self._said < interval and (share is None or share < 1):
            return
        self._said = now
        self._measure(now, trainer.updater.iteration, share)
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

    def _measure(self, now: float, iteration: int, share: float | None) -> None:
        if self._last is None:
            self._last = now, iteration, share or 0.0
            return
        then, iteration_then, share_then = self._last
        if iteration <= iteration_then or now <= then:
            return
        each = (now - then) / (iteration - iteration_then)
        self._seconds_each = each if self._seconds_each is None else _mixed(self._seconds_each, each)
        if share is not None and share > share_then:
            speed = (share - share_then) / (now - then)
            self._share_a_second = speed if self._share_a_second is None else _mixed(self._share_a_second, speed)
        self._last = now, iteration, share or 0.0

    def _text(self, trainer: "Trainer", share: float | None) -> str:
        parts = []
        if share is not None:
            filled = int(share * self._bar_length)
            parts.append(f"[{'#' * filled}{'.' * (self._bar_length - filled)}] {100 * share:.1f} %")
        parts.append(f"epoch {trainer.updater.epoch_detail:.2f}, iteration {trainer.updater.iteration}")
        parts += [f"{key} {float(value):.4g}" for key, value in self._values.items()]
        if self._seconds_each:
            rate = 1 / self._seconds_each
            parts.append(f"{rate:.1f} iterations a second" if rate >= 1 else f"{self._seconds_each:.1f} seconds each")
        if share is not None and share < 1 and self._share_a_second:
            parts.append(f"{as_time((1 - share) / self._share_a_second)} left")
        return ", ".join(parts)


def _mixed(old: float, new: float) -> float:
    return _MEMORY * old + (1 - _MEMORY) * new
