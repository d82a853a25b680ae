"""Metrics as a JSON Lines file."""

import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cvzoo.training.extension import AbstractExtension
from cvzoo.training.interval_means import IntervalMeans
from cvzoo.training.output_folder import write_or_warn
from cvzoo.training.row_file import RowFile

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike


class JSONLinesReport(AbstractExtension):
    """Appends a line to a file for every interval: epoch, iteration, elapsed_time (seconds), and means of the values.

    {"epoch": 1, "iteration": 600, "elapsed_time": 5.1, "main/loss": 0.31}

    keys: the values to write; None: all
    trigger: the interval
    filename: in the trainer's folder
    Values that are not finite are null. A resumed run drops the lines after its snapshot, so that none is repeated. If
    a line cannot be written, a warning is given, and the line is left out.
    """

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        trigger: "TriggerLike" = (1, "epoch"),
        *,
        filename: str = "metrics.jsonl",
    ):
        self._means = IntervalMeans(trigger, keys)
        self._filename = filename
        self._keep: int | None = None
        self._file: RowFile | None = None

    def initialize(self, trainer: "Trainer") -> None:
        self._file = RowFile(os.path.join(trainer.out, self._filename), keep=self._keep)
        if self._file.n_row < (self._keep or 0):
            warnings.warn(
                f"{self._file.path} has only {self._file.n_row} of its {self._keep} lines", RuntimeWarning, stacklevel=2
            )
        self._keep = None

    def __call__(self, trainer: "Trainer") -> None:
        entry = self._means(trainer)
        file = self._file
        if entry is not None and file is not None:
            row = json_row(entry)
            write_or_warn(file.path, lambda: file.append(row))

    def finalize(self) -> None:
        if self._file is not None:
            self._keep, self._file = self._file.n_row, None

    def state(self) -> dict[str, Any]:
        if self._file is None:
            return {"means": self._means.state(), "n_row": self._keep or 0}
        self._file.sync()
        return {"means": self._means.state(), "n_row": self._file.n_row}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._means.load_state(state["means"])
        self._keep = int(state["n_row"])


def json_row(entry: Mapping[str, Any]) -> str:
    """The entry as JSON on one line; numbers that are not finite are null."""
    finite = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in entry.items()
    }
    return json.dumps(finite, allow_nan=False)
