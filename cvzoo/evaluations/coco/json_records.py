"""Typed, block-wise decoding of lists of records, from JSON or from Python.

A results file has some hundred thousand records. Decoding them at once as dictionaries takes seconds and a gigabyte;
decoding them by msgspec to typed records, some thousand at a time, takes tenths of a second and little more memory than
the file.
"""

import json
import mmap
import re
from collections.abc import Callable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Array

# Bytes of JSON, and Python records, per block
_BLOCK_BYTES, _BLOCK_RECORDS = 1 << 18, 1 << 12
_Columns = TypeVar("_Columns")
_Kind = TypeVar("_Kind")
_CUT = re.compile(rb"\}\s*,\s*\{")
_RECORD = re.compile(r"at `\$\[(\d+)\]((?:[.\[][^`]*)?)`")


Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer in the range of int64."""

Length = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""A height or width of an image or a mask, in pixels."""


Box = tuple[float, float, float, float]
"""x, y, width and height."""


def decode_columns(
    source: bytes | mmap.mmap | list, record: type, columns: Callable[[list, int], _Columns], *, name: str
) -> list[_Columns]:
    """The results of `columns` for all blocks of records, in order.

    source: a JSON array of objects as bytes, or a list of dictionaries; record: a msgspec.Struct
    columns: called with a block and the index of its first record
    name: of the records, for errors
    Raises ValueRangeError with the index of the first record that lacks a field or has one of a wrong type, and
    FileFormatError if the text is not JSON.
    """
    if not isinstance(source, bytes | mmap.mmap):
        return [columns(block, first) for first, block in _converted_blocks(source, record, name)]
    decoder = msgspec.json.Decoder(list[record])  # type: ignore[valid-type]  # a type made at run time
    records, n_done = [], 0
    try:
        for text in json_blocks(source, _BLOCK_BYTES):
            block = decoder.decode(text)
            records.append(columns(block, n_done))
            n_done += len(block)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        # a block may have been cut within a string or a nested list, and msgspec does not accept NaN: the fallback
        # decodes the whole text, and its errors name the record
        return [columns(block, first) for first, block in _converted_blocks(loads(source, name), record, name)]
    return records


def json_blocks(text: bytes | mmap.mmap, size: int) -> Iterator[bytes]:
    """A JSON array of objects split into arrays of about `size` bytes.

    The text is cut between `}` and `{` with a comma between them. Within a nested list or a string, the part before the
    cut is not valid JSON, so that a wrong cut is detected when the part is decoded.
    """
    start = text.find(b"[") + 1
    if not start or text[: start - 1].strip():
        yield text[:]
        return
    while cut := _CUT.search(text, start + size):
        yield b"[" + text[start : cut.start() + 1] + b"]"
        start = cut.end() - 1
    yield b"[" + text[start:]


def int_column(block: list, field: str) -> Array:
    """A field of all records, (n,) int64."""
    return np.fromiter(map(attrgetter(field), block), np.int64, len(block))


def float_column(block: list, field: str) -> Array:
    """A field of all records, (n,) float64."""
    return np.fromiter(map(attrgetter(field), block), np.float64, len(block))


def points_column(name: str, lists: list[list[float]], first: int) -> Array:
    """(n, P, 3) float64 from lists of 3 * P numbers.

    name, first: name of the records and index of the first one, for errors
    Raises ValueRangeError with the record's index unless all have the same length.
    """
    length = len(lists[0]) if lists else 0
    wrong = [i for i, each in enumerate(lists) if len(each) != length or length % 3 or not length]
    if wrong:
        raise _of_other_length(f"{name}[{first + wrong[0]}]", len(lists[wrong[0]]), length)
    return np.array(lists, np.float64).reshape(-1, length // 3, 3)


def _of_other_length(record: str, length: int, others: int) -> ValueRangeError:
    return ValueRangeError(
        f"{record}.keypoints has {length} numbers, others have {others}",
        expected="x, y and visibility of each keypoint, the same number for all",
    )


def join_blocks(parts: list[dict], empty: dict, name: str) -> dict:
    """The concatenated columns (arrays, lists or RLEs) of all blocks; `empty` if there are none.

    name: of the records, for errors
    Raises ValueRangeError with the index of the first record with a different number of keypoints.
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


def _joined(columns: list[Any]) -> Any:
    if isinstance(columns[0], list):
        return list(chain.from_iterable(columns))
    return RLEs.concatenate(columns) if isinstance(columns[0], RLEs) else np.concatenate(columns)


def convert(value: object, kind: type[_Kind], name: str) -> _Kind:
    """The value as the given type, with NumPy's scalars and arrays converted to Python's.

    Raises ValueRangeError that names the malformed field.
    """
    try:
        return msgspec.convert(msgspec.to_builtins(value, enc_hook=_builtin), kind)
    except (msgspec.ValidationError, TypeError, UnicodeEncodeError) as error:
        raise ValueRangeError(f"{name} is malformed: {error}") from error


def loads(text: bytes | mmap.mmap, name: str) -> Any:
    """The text decoded by Python's json, which accepts NaN. Raises FileFormatError if it is not JSON."""
    try:
        return json.loads(bytes(text))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{name} is not JSON: {error}") from error


def _converted_blocks(records: object, kind: Any, name: str) -> Iterator[tuple[int, list[Any]]]:
    if not isinstance(records, list):
        raise ValueRangeError(f"{name} must be a list of records", got=type(records).__name__)
    for start in range(0, len(records), _BLOCK_RECORDS):
        block = records[start : start + _BLOCK_RECORDS]
        try:
            yield start, msgspec.convert(block, list[kind])
        except (msgspec.ValidationError, UnicodeEncodeError):
            try:
                yield start, msgspec.convert(msgspec.to_builtins(block, enc_hook=_builtin), list[kind])
            except (msgspec.ValidationError, TypeError) as error:
                raise _fault(error, block, start, name) from error
            except UnicodeEncodeError as error:  # a lone surrogate, as Python reads "\udce9"
                raise ValueRangeError(f"{name}[{start}] or later has text that is not Unicode", got=error) from error


def _fault(error: Exception, block: list[object], start: int, name: str) -> ValueRangeError:
    match = _RECORD.search(str(error))
    if not match:
        return ValueRangeError(f"{name}[{start}] or later is malformed: {error}")
    index, rest = int(match[1]), match[2]
    what = str(error)[: match.start()].rstrip(" -")
    return ValueRangeError(f"{name}[{start + index}]{rest}: {what}", got=repr(block[index])[:200])


def _builtin(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__} is not JSON serializable")
