"""Objects as bytes for other ranks: msgpack with arrays, so that nothing is ever unpickled."""

from typing import Any

import msgspec
import numpy as np

from cvzoo.backends.arrays import is_array, to_numpy
from cvzoo.errors.exceptions import DtypeError, FileFormatError, ValueRangeError

LARGEST = 1 << 30  # bytes of one object
_ARRAY = 1  # msgpack's code of an extension type
_KINDS = "biufc"


def encode(value: object) -> bytes:
    """An object as bytes: None, bool, int, float, str, bytes, arrays, and lists, tuples and dictionaries of those.

    Raises DtypeError for any other type, ValueRangeError beyond 1 GiB.
    """
    try:
        data = msgspec.msgpack.encode(value, enc_hook=_encode_other)
    except (TypeError, OverflowError, NotImplementedError) as error:
        if isinstance(error, DtypeError):
            raise
        raise DtypeError(
            "an object cannot be sent to other ranks",
            expected="None, numbers, str, bytes, arrays, and lists, tuples and dictionaries of those",
            got=f"{type(value).__name__} ({error})",
        ) from error
    if len(data) > LARGEST:
        raise ValueRangeError("an object is too large for one message", expected=f"{LARGEST} bytes", got=len(data))
    return data


def decode(data: bytes | memoryview) -> Any:
    """The object of `encode`; tuples come back as lists.

    Raises FileFormatError for other bytes.
    """
    try:
        return msgspec.msgpack.decode(data, ext_hook=_decode_array)
    except (msgspec.DecodeError, ValueError, TypeError) as error:
        raise FileFormatError(f"a message of another rank is malformed: {error}") from error


def _encode_other(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if not is_array(value):
        raise DtypeError(
            f"an object of type {type(value).__name__} cannot be sent to other ranks",
            expected="None, numbers, str, bytes, arrays, and lists, tuples and dictionaries of those",
        )
    array = to_numpy(value)
    if array.dtype.kind not in _KINDS:
        raise DtypeError("an array of this dtype cannot be sent to other ranks", got=str(array.dtype))
    header = msgspec.msgpack.encode((array.dtype.str, array.shape))
    return msgspec.msgpack.Ext(_ARRAY, len(header).to_bytes(2, "little") + header + array.tobytes())


def _decode_array(code: int, data: memoryview) -> np.ndarray:
    if code != _ARRAY:
        raise ValueError(f"unknown type {code}")
    end = 2 + int.from_bytes(data[:2], "little")
    name, shape = msgspec.msgpack.decode(data[2:end], type=tuple[str, tuple[int, ...]])
    dtype = np.dtype(name)
    if dtype.kind not in _KINDS:
        raise ValueError(f"unknown dtype {name}")
    return np.frombuffer(data[end:], dtype).reshape(shape).copy()
