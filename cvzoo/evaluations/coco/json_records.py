"""Lists of records, of a JSON file or of Python, decoded by type and a block at a time.

A file of results holds some hundred thousand records. Decoded at once as dictionaries they cost seconds and a
gigabyte; decoded by msgspec to typed records, some thousand at a time, tenths of a second and little more than the
file.
"""

import json
import mmap
import re
from collections.abc import Callable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any

import msgspec
import numpy as np

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.geometry.rle import RLEs

# Bytes of JSON, and records of Python, that are decoded together
_BLOCK_BYTES, _BLOCK_RECORDS = 1 << 18, 1 << 12
_CUT = re.compile(rb"\}\s*,\s*\{")
_RECORD = re.compile(r"at `\$\[(\d+)\]((?:[.\[][^`]*)?)`")


Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""What a column of int64 can hold."""

Length = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""A side of a photo or of a mask, in pixels."""


def decode_columns(source: bytes | list, record: type, columns: Callable[[list, int], Any], *, name: str) -> list:
    """What `columns` makes of every block of records, in order.

    source: a JSON array of objects as bytes, or a list of dictionaries; record: a msgspec.Struct
    columns: takes a block and the index of its first record
    name: what the records are called in errors
    Raises ValueRangeError with the index of the first record that lacks a field or has one of a wrong kind, and
    FileFormatError if the text is no JSON.
    """
    if not isinstance(source, bytes | mmap.mmap):
        return [columns(block, first) for first, block in _converted_blocks(source, record, name)]
    decoder = msgspec.json.Decoder(list[record])
    found, n_done = [], 0
    try:
        for text in json_blocks(source, _BLOCK_BYTES):
            block = decoder.decode(text)
            found.append(columns(block, n_done))
            n_done += len(block)
    except (msgspec.DecodeError, RecursionError):
        # a block may have been cut inside of a string or an inner list, and NaN is no JSON for msgspec: the slow way
        # tells, and names the record
        return [columns(block, first) for first, block in _converted_blocks(loads(source, name), record, name)]
    return found


def json_blocks(text: bytes, size: int) -> Iterator[bytes]:
    """Arrays of about `size` bytes that one after another hold what an array of objects holds.

    The text is cut between a `}` and a `{` with a comma between them. Where that is inside of an inner list or of a
    string, the part in front of the cut is no valid JSON, so a wrong cut cannot pass for a right one.
    """
    start = text.find(b"[") + 1
    if not start or text[: start - 1].strip():
        yield text[:]
        return
    while cut := _CUT.search(text, start + size):
        yield b"[" + text[start : cut.start() + 1] + b"]"
        start = cut.end() - 1
    yield b"[" + text[start:]


def int_column(block: list, field: str) -> np.ndarray:
    """A field of all records, (n,) int64."""
    return np.fromiter(map(attrgetter(field), block), np.int64, len(block))


def float_column(block: list, field: str) -> np.ndarray:
    """A field of all records, (n,) float64."""
    return np.fromiter(map(attrgetter(field), block), np.float64, len(block))


def points_column(name: str, lists: list[list[float]], first: int) -> np.ndarray:
    """(n, P, 3) float64 from lists of 3 * P numbers.

    name, first: what the records are called in errors, and the index of the first
    Raises ValueRangeError with the record's index unless all are of one length.
    """
    length = len(lists[0]) if lists else 0
    wrong = [i for i, each in enumerate(lists) if len(each) != length or length % 3 or not length]
    if wrong:
        raise _of_other_length(f"{name}[{first + wrong[0]}]", len(lists[wrong[0]]), length)
    return np.array(lists, np.float64).reshape(-1, length // 3, 3)


def _of_other_length(record, length, others):
    return ValueRangeError(
        f"{record}.keypoints: {length} numbers, others have {others}",
        expected="x, y and visibility of each point, as many for all",
    )


def join_blocks(parts: list[dict], empty: dict, name: str) -> dict:
    """Columns (arrays, lists or RLEs) of all blocks one after another; `empty` if there is no block.

    Raises ValueRangeError with the index of the first record whose points are not as many as others', whose records
    are called `name`.
    """
    parts = [part for part in parts if len(part["image_id"])] or [empty]
    if "keypoints" in parts[0]:
        first = 0
        for part in parts:
            n_point, others = part["keypoints"].shape[1], parts[0]["keypoints"].shape[1]
            if n_point != others:
                raise _of_other_length(f"{name}[{first}]", 3 * n_point, 3 * others)
            first += len(part["image_id"])
    return {name: _joined([part[name] for part in parts]) for name in parts[0]}


def _joined(columns):
    if isinstance(columns[0], list):
        return list(chain.from_iterable(columns))
    return RLEs.concatenate(columns) if isinstance(columns[0], RLEs) else np.concatenate(columns)


def convert(value: Any, kind: type, name: str) -> Any:
    """The value as this type, numpy's numbers and arrays within it turned into Python's.

    Raises ValueRangeError that names what does not fit.
    """
    try:
        return msgspec.convert(msgspec.to_builtins(value, enc_hook=_builtin), kind)
    except (msgspec.ValidationError, TypeError, UnicodeEncodeError) as error:
        raise ValueRangeError(f"{name}: {error}") from error


def loads(text: bytes, name: str) -> Any:
    """What Python's own decoder makes of the text; it knows NaN. Raises FileFormatError if it is no JSON."""
    try:
        return json.loads(bytes(text))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{name}: no JSON: {error}") from error


def _converted_blocks(records, kind, name):
    if not isinstance(records, list):
        raise ValueRangeError(f"{name} are a list of records", got=type(records).__name__)
    for start in range(0, len(records), _BLOCK_RECORDS):
        block = records[start : start + _BLOCK_RECORDS]
        try:
            yield start, msgspec.convert(block, list[kind])
        except (msgspec.ValidationError, UnicodeEncodeError):
            try:
                yield start, msgspec.convert(msgspec.to_builtins(block, enc_hook=_builtin), list[kind])
            except (msgspec.ValidationError, TypeError) as error:
                raise _fault(error, block, start, name) from error
            except UnicodeEncodeError as error:  # half a letter, as Python reads "\udce9"
                raise ValueRangeError(f"{name}[{start}] or later: a text that is no Unicode", got=error) from error


def _fault(error, block, start, name):
    found = _RECORD.search(str(error))
    if not found:
        return ValueRangeError(f"{name}[{start}] or later: {error}")
    index, rest = int(found[1]), found[2]
    what = str(error)[: found.start()].rstrip(" -")
    return ValueRangeError(f"{name}[{start + index}]{rest}: {what}", got=repr(block[index])[:200])


def _builtin(value):
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__} is not for JSON")
