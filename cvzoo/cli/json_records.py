"""Results as JSON: a file a photo, and one file with a line a photo."""

import contextlib
import json
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from cvzoo.files.atomic_write import atomic_write
from cvzoo.links.model.detections import Detections


def photo_record(
    photo: str, size: tuple[int, int], found: Detections, i: int, picture: str | None = None
) -> dict[str, Any]:
    """What was found in photo `i` as a table ready for JSON, all fields spelled.

    photo: its name as the user gave it; size: (H, W) pixels; picture: the file with the boxes drawn, if any
    """
    objects = [{key: value for key, value in each.items() if key != "photo"} for each in found.to_records(i)]
    return {"photo": photo, "height": size[0], "width": size[1], "picture": picture, "objects": objects}


def write_json(record: dict[str, Any], path: str | os.PathLike) -> None:
    """Write the record to a file of its own, whole or not at all; people can read it. Raises OSError."""
    with atomic_write(path) as file:
        file.write(as_json(record, indent=2) + b"\n")


@contextlib.contextmanager
def json_lines(path: str | os.PathLike | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A function that appends a record as one line; None: one that does nothing; "-": to standard output.

    The file is not written aside and renamed: it is a stream that others may follow, and each line goes out in one
    piece, so that whoever stops the program, and however, leaves whole lines. A full disk takes its part line back.
    """
    if path is None:
        yield lambda record: None
    elif path == "-":
        yield lambda record: _print_bytes(as_json(record) + b"\n")
    else:
        with open(pathlib.Path(path), "wb", buffering=0) as file:
            yield lambda record: _append(file, as_json(record) + b"\n")


def as_json(record: dict[str, Any], *, indent: int | None = None) -> bytes:
    """The record as JSON in UTF-8; letters stay letters."""
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=indent).encode("utf-8")
    except UnicodeEncodeError:  # a file's name that is no UTF-8 has no letters to keep
        return json.dumps(record, allow_nan=False, indent=indent).encode("ascii")


def _append(file: Any, line: bytes) -> None:
    before = file.tell()
    try:
        if file.write(line) != len(line):
            raise OSError(f"{file.name}: the disk is full")
    except OSError:
        file.truncate(before)
        raise


def _print_bytes(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
