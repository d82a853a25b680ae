"""Rows of JSON Lines files that another process appends to, or cuts off when it resumes from an older snapshot."""

import os
import pathlib
from typing import Any, TypeAlias

from cvzoo.studio.jobs.json_file import decoder_of, open_regular

Row: TypeAlias = dict[str, Any]
_MAX_READ = 8 << 20  # bytes per call: a longer file is read in several
_MAX_ALL = 64 << 20  # about 300,000 rows; of a longer file the end is read


def read_rows(path: pathlib.Path, offset: int = 0) -> tuple[list[Row], int]:
    """The complete rows from the offset on, at most 8 MiB of them, and the offset behind them.

    Lines that are no JSON objects are left out; a missing file has no rows. Raises EOFError if the file ends before
    the offset: it was cut off, and what was read before does not hold any more.
    """
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size < offset:
                raise EOFError(f"{path} has been cut off")
            if size == offset:
                return [], offset
            file.seek(offset)
            data = file.read(_MAX_READ)
    except OSError:
        if offset:
            raise EOFError(f"{path} has been removed") from None
        return [], 0
    end = data.rfind(b"\n") + 1
    if not end and len(data) == _MAX_READ:
        end = len(data)  # a line of 8 MiB is no row
    return _rows_of(data[:end]), offset + end


def all_rows(path: pathlib.Path, n_byte: int = _MAX_ALL) -> tuple[list[Row], int]:
    """All complete rows of the file, of its last `n_byte` bytes if it has more, and the offset behind them."""
    rows: list[Row] = []
    try:
        offset = max(os.stat(path, follow_symlinks=False).st_size - n_byte, 0)
    except OSError:
        return [], 0
    while True:
        try:
            more, end = read_rows(path, offset)
        except EOFError:
            return all_rows(path, n_byte)
        rows += more
        if end == offset:
            return rows, offset
        offset = end


def last_rows(path: pathlib.Path, n_byte: int = 1 << 15) -> list[Row]:
    """The complete rows among the last bytes of the file."""
    try:
        with open_regular(path) as file:
            start = max(os.fstat(file.fileno()).st_size - n_byte, 0)
            file.seek(start)
            data = file.read(n_byte)
    except OSError:
        return []
    if start:
        data = data[data.find(b"\n") + 1 :]
    return _rows_of(data[: data.rfind(b"\n") + 1])


def _rows_of(data: bytes) -> list[Row]:
    rows = []
    decoder = decoder_of(data)
    for line in data.splitlines():
        try:
            row = decoder.decode(line.decode())
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows
