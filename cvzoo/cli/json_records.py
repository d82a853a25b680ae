"""Results as JSON: one file per image, and one file with one line per image."""

import contextlib
import io
import json
import math
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from cvzoo.files.atomic_write import atomic_write
from cvzoo.links.model.detections import Detections


def photo_record(
    image: str, size: tuple[int, int], result: Detections, i: int, picture: str | None = None
) -> dict[str, Any]:
    """The predictions for image `i` as a dictionary for JSON.

    photo: its name as given by the user; size: (H, W) pixels; picture: the file with the boxes drawn, if any
    """
    objects = [{key: value for key, value in each.items() if key != "photo"} for each in result.to_records(i)]
    return {"photo": image, "height": size[0], "width": size[1], "picture": picture, "objects": objects}


def write_json(record: dict[str, Any] | list[dict[str, Any]], path: str | os.PathLike) -> None:
    """Writes the record to a file atomically, indented. Raises OSError."""
    with atomic_write(path) as file:
        file.write(as_json(record, indent=2) + b"\n")


@contextlib.contextmanager
def json_lines(
    path: str | os.PathLike | None, *, keep_empty: bool = True
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A function that appends a record as one line; for None one that does nothing, for "-" to standard output.

    The file is not written atomically, since it is a stream that other programs may follow; but each line is written
    in one call, so that an interrupted program leaves complete lines, and a partial line is removed if the disk is
    full.
    keep_empty: whether the file stays if no line was written
    """
    if path is None:
        yield lambda record: None
    elif path == "-":
        yield lambda record: _print_bytes(as_json(record) + b"\n")
    else:
        with open(pathlib.Path(path), "wb", buffering=0) as file:
            try:
                yield lambda record: _append(file, as_json(record) + b"\n")
            finally:
                if not keep_empty and file.tell() == 0:
                    os.unlink(path)


def as_json(record: dict[str, Any] | list[dict[str, Any]], *, indent: int | None = None) -> bytes:
    """The record as JSON in UTF-8, with characters beyond ASCII unescaped; NaN and infinity are null."""
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError:
        record = _with_null(record)
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # a file name that is not valid UTF-8
        return json.dumps(record, allow_nan=False, indent=indent).encode("ascii")


def _with_null(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _with_null(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_with_null(value) for value in tree]
    return None if isinstance(tree, float) and not math.isfinite(tree) else tree


def _append(file: io.FileIO, line: bytes) -> None:
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
