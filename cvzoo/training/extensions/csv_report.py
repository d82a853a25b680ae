"""Metrics as a CSV file."""

import csv
import io
import pathlib
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.interval_means import WHERE, IntervalMeans
from cvzoo.training.output_folder import write_or_warn, write_text
from cvzoo.training.row_file import RowFile

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike


class CSVReport(AbstractExtension):
    """Appends a row of means to a CSV file for every interval; arguments and behavior are those of JSONLinesReport.

    Columns are epoch, iteration, elapsed_time, then the values in order of appearance; a value that appears later gets
    a new column, empty in the rows before.
    """

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        trigger: "TriggerLike" = (1, "epoch"),
        *,
        filename: str = "metrics.csv",
    ):
        self._means = IntervalMeans(trigger, keys)
        self._filename = filename
        self._columns = list(WHERE)
        self._keep: int | None = None  # rows below the header
        self._file: RowFile | None = None

    def initialize(self, trainer: "Trainer") -> None:
        path = pathlib.Path(trainer.out, self._filename)
        rows = _read_rows(path, self._columns, self._keep) if self._keep else []
        if len(rows) < (self._keep or 0):
            warnings.warn(f"{path} has only {len(rows)} of its {self._keep} rows", RuntimeWarning, stacklevel=2)
        write_text(path, _text([self._columns, *rows]))
        self._file = RowFile(path, keep=1 + len(rows))
        self._keep = None

    def __call__(self, trainer: "Trainer") -> None:
        entry = self._means(trainer)
        file = self._file
        if entry is not None and file is not None:
            write_or_warn(file.path, lambda: self._add(file, entry))

    def _add(self, file: RowFile, entry: Mapping[str, Any]) -> None:
        new = [key for key in entry if key not in self._columns]
        columns = [*self._columns, *new]
        row = [_cell(entry.get(key, "")) for key in columns]
        if not new:
            file.append(_text([row]).removesuffix("\n"))
            return
        path, n = file.path, file.n_row
        rows = _read_rows(path, columns, n - 1)
        write_text(path, _text([columns, *rows, row]))
        self._columns, self._file = columns, RowFile(path, keep=n + 1)

    def finalize(self) -> None:
        if self._file is not None:
            self._keep, self._file = self._file.n_row - 1, None

    def state(self) -> dict[str, Any]:
        if self._file is None:
            n = self._keep or 0
        else:
            self._file.sync()
            n = self._file.n_row - 1
        return {"means": self._means.state(), "columns": list(self._columns), "n_row": n}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._means.load_state(state["means"])
        self._columns = [str(column) for column in state["columns"]]
        self._keep = int(state["n_row"])


def _read_rows(path: pathlib.Path, columns: Sequence[str], n: int) -> list[list[str]]:
    """The first n rows below the header, with cells in the order of `columns`."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            values = [[row.get(column) or "" for column in columns] for row, _ in zip(reader, range(n))]
    except FileNotFoundError:
        return []
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path} is not a CSV file that can be continued: {error}") from error
    return values


def _cell(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _text(rows: Sequence[Sequence[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()
