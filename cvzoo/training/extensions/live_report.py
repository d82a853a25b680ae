"""The present state of a training as rows every few seconds, for programs that show it."""

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from cvzoo.reporting.summary import DictSummary
from cvzoo.training.extension import PRIORITY_READER, AbstractExtension
from cvzoo.training.extensions.json_lines_report import json_row
from cvzoo.training.extensions.observe_lr import learning_rate
from cvzoo.training.output_folder import write_or_warn
from cvzoo.training.row_file import RowFile

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

FILENAME = "live.jsonl"
_KEYS = ("main/loss",)
_MAX_ROWS = 1000  # about as many per e-fold of the elapsed time


class LiveReport(AbstractExtension):
    """Appends a row to live.jsonl every few seconds: epoch, iteration, time, learning rate, mean loss since the last.

    {"epoch": 1.52, "iteration": 600, "elapsed_time": 85.1, "lr": 0.01, "main/loss": 0.31}

    seconds: between two rows; more in a long training, of whose elapsed time it is a thousandth
    clock: seconds, for tests

    Rows depend on the speed of the machine and are not part of a snapshot; a resumed run removes those after its
    snapshot. If a row cannot be written, a warning is given, and the row is left out.
    """

    trigger = (1, "iteration")
    priority = PRIORITY_READER - 10
    default_name = "LiveReport"

    def __init__(self, *, seconds: float = 2.0, clock: Callable[[], float] = time.monotonic):
        self._seconds = seconds
        self._clock = clock
        self._next = 0.0
        self._summary = DictSummary()
        self._file: RowFile | None = None

    def initialize(self, trainer: "Trainer") -> None:
        path = os.path.join(trainer.out, FILENAME)
        iteration = trainer.updater.iteration
        self._file = RowFile(path, keep=_rows_until(path, iteration) if iteration else None)
        self._next = self._clock()
        self._summary = DictSummary()

    def __call__(self, trainer: "Trainer") -> None:
        self._summary.add({key: trainer.observation[key] for key in _KEYS if key in trainer.observation})
        file = self._file
        if file is None or self._clock() < self._next:
            return
        updater = trainer.updater
        elapsed = trainer.elapsed_time
        where = {"epoch": round(updater.epoch_detail, 4), "iteration": updater.iteration, "elapsed_time": elapsed}
        row = json_row(where | _learning_rate(trainer) | self._summary.compute_mean())
        self._summary = DictSummary()
        write_or_warn(file.path, lambda: file.append(row))
        self._next = self._clock() + max(self._seconds, elapsed / _MAX_ROWS)

    def finalize(self) -> None:
        self._file = None


def _learning_rate(trainer: "Trainer") -> dict[str, float]:
    """Under "lr" the learning rate of the optimizer with its schedule; nothing without one, as of AdaDelta."""
    optimizer = trainer.updater.get_all_optimizers().get("main")
    rate = None if optimizer is None else learning_rate(optimizer)
    return {} if rate is None else {"lr": rate}


def _rows_until(path: str, iteration: int) -> int:
    """The number of rows of the file up to that iteration."""
    n = 0
    try:
        with open(path, "rb") as file:
            for line in file:
                if _iteration_of(line) > iteration:
                    break
                n += 1
    except OSError:
        pass
    return n


def _iteration_of(line: bytes) -> int:
    """The iteration of a row; 0 of a malformed one."""
    digits = line.partition(b'"iteration": ')[2].partition(b",")[0]
    return int(digits) if digits.isdigit() else 0
