"""Rows of JSON Lines files that another process appends to, or cuts off when it resumes from an older snapshot."""

import os
import pathlib
from collections.abc import Iterator
from typing import Any, TypeAlias

from cvzoo.studio.jobs.json_file import decoder_of, open_regular, parse_json

Row: TypeAlias = dict[str, Any]
_END = b"\n"
_MAX_READ = 8 << 20  # bytes per call: a longer file is read in several
_PART = 1 << 20  # bytes of rows that are parsed at once
_MAX_ALL = 64 << 20  # about 300,000 rows; of a longer file the end is read


def read_rows(path: pathlib.Path, offset: int = 0) -> tuple[list[Row], int]:
    """The complete rows from the offset on, at most 8 MiB of them, and the offset behind them.

    Lines that are no JSON objects are left out; a missing file has no rows. Raises EOFError if the file ends before
    the offset: it was cut off, and what was read before does not hold any more.
    """
    data, end = _read(path, offset)
    return _rows_of(data), end


def _read(path: pathlib.Path, offset: int) -> tuple[bytes, int]:
    """The complete lines, as of `read_rows`."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size < offset:
                raise EOFError(f"{path} has been cut off")
            if size == offset:
                return b"", offset
            file.seek(offset)
            data = file.read(min(size - offset, _MAX_READ))
    except OSError:
        if offset:
            raise EOFError(f"{path} has been removed") from None
        return b"", 0
    end = data.rfind(b"\n") + 1
    if not end and len(data) == _MAX_READ:
        end = len(data)  # a line of 8 MiB is no row
    return data[:end], offset + end


def all_rows(path: pathlib.Path, n_byte: int = _MAX_ALL) -> tuple[list[Row], int]:
    """All complete rows of the file, of its last `n_byte` bytes if it has more, and the offset behind them."""
    rows: list[Row] = []
    offset = 0
    try:
        for part, end in parts_of(path, end_of(path, n_byte)):
            rows += part
            offset = end
    except EOFError:
        return all_rows(path, n_byte)
    return rows, offset


def end_of(path: pathlib.Path, n_byte: int) -> int:
    """The offset at which the last `n_byte` bytes of the file begin; 0 of a shorter or missing one."""
    try:
        return max(os.stat(path, follow_symlinks=False).st_size - n_byte, 0)
    except OSError:
        return 0


def parts_of(path: pathlib.Path, offset: int) -> Iterator[tuple[list[Row], int]]:
    """The complete rows from the offset on, about 1 MiB of them at once, each part with the offset behind it.

    Raises EOFError if the file ends before the offset, or is cut off meanwhile.
    """
    while True:
        data, end = _read(path, offset)
        start = 0
        while start < len(data):
            stop = data.find(b"\n", start + _PART) + 1 or len(data)
            yield _rows_of(data[start:stop]), offset + stop
            start = stop
        if end == offset:
            return
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
    try:  # all at once, which takes a fraction of the time
        found = parse_json(b"[" + data.rstrip(_END).replace(_END, b",") + b"]")
    except (ValueError, RecursionError):
        found = []
    if len(found) == data.count(_END) and set(map(type, found)) == {dict}:
        return found  # type: ignore[no-any-return]
    rows, decoder = [], decoder_of(data)
    for line in data.splitlines():
        try:
            row = decoder.decode(line.decode())
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows
