"""The log as a table printed during training."""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from cvzoo.training.extension import PRIORITY_READER, AbstractExtension
from cvzoo.training.extensions.log_report import LogReport

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

_WIDTH = 10  # characters of a column


class PrintReport(AbstractExtension):
    """Prints the new entries of a LogReport as rows of a table.

    entries: the columns, such as ["epoch", "main/loss", "validation/main/accuracy"]; None: all of the first entry
    log_report: the LogReport, or its name in the trainer
    out: output stream; None: standard output
    """

    trigger = (1, "iteration")
    priority = PRIORITY_READER - 10  # after the LogReport, whatever their order in the trainer
    default_name = "PrintReport"

    def __init__(
        self,
        entries: Sequence[str] | None = None,
        log_report: LogReport | str = "LogReport",
        out: TextIO | None = None,
    ):
        self._entries = None if entries is None else list(entries)
        self._log_report = log_report
        self._out = out
        self._n_printed = 0
        self._has_header = False

    def __call__(self, trainer: "Trainer") -> None:
        log = self._lines(trainer)
        if self._n_printed >= len(log):
            return
        out = sys.stdout if self._out is None else self._out
        columns = _all_keys(log[0]) if self._entries is None else self._entries
        clear = "\r\033[K" if out.isatty() else ""  # there may be a progress bar on the line
        if not self._has_header:
            out.write(clear + "  ".join(key.ljust(_WIDTH) for key in columns).rstrip() + "\n")
            self._has_header = True
        for line in log[self._n_printed :]:
            cells = [_as_text(line.get(key)).ljust(max(_WIDTH, len(key))) for key in columns]
            out.write(clear + "  ".join(cells).rstrip() + "\n")
        out.flush()
        self._n_printed = len(log)

    def _lines(self, trainer: "Trainer") -> list[dict[str, Any]]:
        report = self._log_report
        return (trainer.get_extension(report) if isinstance(report, str) else report).log

    def initialize(self, trainer: "Trainer") -> None:
        self._lines(trainer)  # so that a missing LogReport is an error before training

    def state(self) -> dict[str, Any]:
        return {"n_printed": self._n_printed}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._n_printed = int(state["n_printed"])


def _all_keys(line: dict[str, Any]) -> list[str]:
    first = [key for key in ("epoch", "iteration") if key in line]
    return first + [key for key in line if key not in first]


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    return str(value)
