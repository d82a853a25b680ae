"""JSON of runs, which may be large or malformed, or no file at all."""

import functools
import json
import math
import os
import pathlib
import stat
from collections.abc import Callable
from typing import Any, BinaryIO

MAX_BYTES = 4 << 20
# digits and + as 0, E as e: where a number may be that no float has, or an integer of more than 64 bits; a regular
# expression takes ten times as long, and to delete the + twice
_DIGITS = bytes.maketrans(b"123456789+E", b"0000000000e")
_POWER, _LONG = b"e000", b"0" * 19
_FRACTION = b"." + b"0" * 17  # as many digits may follow 0.000, which is no integer


def read_json_object(path: pathlib.Path, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """The object in the file; an empty one if the file is missing, malformed, or too large."""
    try:
        with open_regular(path) as file:
            # not `max_bytes`, for which memory would be made ready, at ten times the cost of reading a small file
            data = file.read(min(os.fstat(file.fileno()).st_size, max_bytes) + 1)
        tree = parse_json(data) if len(data) <= max_bytes else None
    except (OSError, ValueError, RecursionError):
        return {}
    return tree if isinstance(tree, dict) else {}


def open_regular(path: pathlib.Path) -> BinaryIO:
    """The file, opened for reading.

    Raises OSError for a link, which may lead out of the run, and for a FIFO or device, at which a reader could wait.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no regular file")
    return open(descriptor, "rb")


def parse_json(data: bytes) -> Any:
    """What the text means: numbers that are not finite are None, and integers of more than 64 bits are floats.

    Raises ValueError, RecursionError.
    """
    decoder = decoder_of(data)
    if decoder is _FAST:
        try:
            return _fastest()(data)
        except (ValueError, RecursionError):  # of NaN, and of half a character, too
            pass
    return decoder.decode(data.decode())


def load_json(text: str | bytes) -> Any:
    """What `json.loads` gives, and raises, of text that is mostly sound, in a third of the time."""
    try:
        return _fastest()(text)
    except (ValueError, RecursionError):  # of NaN, of numbers beyond floats and of half a character, too
        return json.loads(text)


@functools.cache
def _fastest() -> Callable[[str | bytes], Any]:
    """msgspec's reader, which an idle server does not import, as it takes 1.3 MB."""
    import msgspec

    decode: Callable[[str | bytes], Any] = msgspec.json.Decoder().decode
    return decode


def decoder_of(data: bytes) -> json.JSONDecoder:
    """What reads the text, or each of its lines, as `parse_json` does; choosing takes longer than a short row."""
    plain = data.translate(_DIGITS)
    if _LONG in plain:
        plain = plain.replace(_FRACTION, b"")
    return _CAREFUL if _LONG in plain or _POWER in plain else _FAST


def _none(_: str) -> None:
    return None


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _integer(text: str) -> float | None:
    return int(text) if len(text) <= 18 else _finite(text)


# made once: `json.loads` with options makes one per call, which takes longer than a row
_FAST = json.JSONDecoder(parse_constant=_none)
_CAREFUL = json.JSONDecoder(parse_constant=_none, parse_float=_finite, parse_int=_integer)
