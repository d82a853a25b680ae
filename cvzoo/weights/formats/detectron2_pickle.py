"""detectron2's and Detectron's `.pkl` files: a pickled dict of NumPy arrays, read without executing code.

Source: the way NumPy pickles arrays (`ndarray.__reduce__`, `dtype.__reduce__`), protocols 2 to 5, by Python 2 and 3.
We differ: the pickle is read by a restricted machine that supports only numeric arrays and plain values; arrays of
objects are refused; the total size of the arrays is limited by that of the file.
"""

import math
import os
import re
from collections.abc import Mapping
from typing import Literal

import numpy as np

from cvzoo.errors.exceptions import FileError, FileFormatError, UnsafeFileError
from cvzoo.files.file_bytes import file_bytes
from cvzoo.weights.formats.declared_shape import MAX_RANK, is_possible_shape
from cvzoo.weights.formats.pickle_machine import Callee, Inert, PickleMachine, Stateful, dict_of_pairs

MAX_SIZE = 8 << 30
# names of the dict of arrays, next to the author's; the most probable first
STATE_KEYS = ("model", "blobs", "state_dict")
_DESCR = re.compile(r"[<>|=]?(?:[bB?]1?|[iu][1248]|f[248])")
_BUDGET_OVER = 64 << 20
_ByteOrder = Literal["<", ">", "|", "="]


class _Dtype(Stateful):
    """Replaces `numpy.dtype`."""

    def __init__(self, descr: object, align: object = False, copy: object = False):
        if not isinstance(descr, str) or len(descr) > 20:
            raise TypeError("a dtype is text")
        self.descr = descr
        self.order: _ByteOrder = "="

    def set_state(self, state: object) -> None:
        # (version, byte order, subdtype, names, fields, itemsize, alignment, flags)
        if not isinstance(state, tuple) or len(state) < 7 or state[2:5] != (None, None, None):
            raise ValueError("a dtype with parts")
        if state[1] not in ("<", ">", "|", "="):
            raise ValueError("an unknown byte order")
        self.order = state[1]

    def resolved(self, where: str) -> np.dtype:
        if not _DESCR.fullmatch(self.descr):
            # "O" would be pickled objects
            raise UnsafeFileError(f"{where}: holds an array of dtype {self.descr!r}", expected="numbers")
        dtype = np.dtype(self.descr)
        return dtype if self.order in "|=" else dtype.newbyteorder(self.order)


class _Array(Stateful):
    """Replaces an array that is created later: its bytes are kept until everything has been validated."""

    shape: tuple[int, ...]
    dtype: _Dtype
    raw: bytes | str | list[object]
    fortran = False
    is_filled = False

    def __init__(self, *args: object):
        pass

    def set_state(self, state: object) -> None:
        if not isinstance(state, tuple) or len(state) not in (4, 5):
            raise ValueError("an array's state")
        self.fill(*state[-4:])

    def fill(self, shape: object, dtype: object, fortran: object, raw: object) -> "_Array":
        if not isinstance(shape, tuple) or len(shape) > MAX_RANK or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError("an impossible shape")
        if not isinstance(dtype, _Dtype):
            raise ValueError("an array without a dtype")
        if not isinstance(raw, (bytes, str, list)):
            raise ValueError("an array without bytes")
        self.shape, self.dtype, self.fortran, self.raw = shape, dtype, bool(fortran), raw
        self.is_filled = True
        return self


def _encode(text: object, encoding: object = "latin1") -> str:
    # protocol 2 stores bytes as Latin-1 text, which is encoded again only for arrays
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise TypeError("bytes are encoded as Latin-1 only")
    return text


def _empty_bytes(*args: object) -> str:
    if args:
        raise TypeError("only empty bytes are written so")
    return ""


def _scalar(dtype: object, raw: object) -> _Array:
    return _Array().fill((), dtype, False, raw)


def _from_buffer(raw: object, dtype: object, shape: object, order: object) -> _Array:
    return _Array().fill(shape, dtype, order == "F", raw)


def _table() -> dict[tuple[str, str], object]:
    table: dict[tuple[str, str], object] = {
        ("numpy", "ndarray"): Inert(),  # referenced, but never called
        ("numpy", "dtype"): Callee("numpy.dtype", _Dtype),
        ("_codecs", "encode"): Callee("_codecs.encode", _encode),
        ("collections", "OrderedDict"): Callee("collections.OrderedDict", dict_of_pairs),
        ("builtins", "bytes"): Callee("bytes", _empty_bytes),
        ("__builtin__", "bytes"): Callee("bytes", _empty_bytes),
    }
    for core in ("numpy.core", "numpy._core"):  # the second is its name in NumPy 2
        table[f"{core}.multiarray", "_reconstruct"] = Callee("_reconstruct", _Array)
        table[f"{core}.multiarray", "scalar"] = Callee("scalar", _scalar)
        table[f"{core}.numeric", "_frombuffer"] = Callee("_frombuffer", _from_buffer)
    return table


def read_detectron2(path: str | os.PathLike, *, key: str | None = None) -> dict[str, np.ndarray]:
    """The arrays in a `.pkl` of detectron2 or Detectron by name, in the file's order, each with its own memory.

    key: name of their dict in the file, such as "model" or "blobs"; None searches for it
    Values that are not arrays are dropped.
    Raises UnsafeFileError if the file contains anything but numeric arrays and plain values; FileFormatError, naming
    the array if possible, if it is damaged; FileError if it contains no named arrays.
    """
    where = os.path.basename(path)
    data = file_bytes(path, limit=MAX_SIZE)
    if data[:1] != b"\x80":
        raise FileFormatError(f"{path}: no pickle of protocol 2 or later", got=data[:4])
    machine = PickleMachine(data, table=_table(), where=where)
    value = machine.load()
    if machine.position != len(data):
        raise FileFormatError(f"{where}: {len(data) - machine.position} bytes too many at the end")
    state = _state(value, where, key)
    stubs = {name: stub for name, stub in state.items() if isinstance(stub, _Array)}
    if not stubs:
        raise FileError(f"{where}: holds no arrays that have names")
    budget = 4 * len(data) + _BUDGET_OVER  # names may share bytes, but a small file must not exhaust memory
    arrays = {}
    for name, stub in stubs.items():
        if not isinstance(name, str) or len(name) > 1000:
            raise FileFormatError(f"{where}: an array's name is not a short text")
        array = _array(stub, name, where)
        budget -= array.nbytes
        if budget < 0:
            raise FileFormatError(f"{where}: {name!r} expands to more than {len(data)} bytes can hold")
        arrays[name] = array
    return arrays


def _state(value: object, where: str, key: str | None) -> Mapping:
    if not isinstance(value, dict):
        raise FileError(f"{where}: holds {type(value).__name__}, not a dict of arrays")
    if key is not None:
        if not isinstance(value.get(key), dict):
            raise FileError(f"{where}: no dict under {key!r}", got=[str(name)[:40] for name in value][:8])
        return value[key]
    if any(isinstance(each, _Array) for each in value.values()):
        return value
    return next((value[name] for name in STATE_KEYS if isinstance(value.get(name), dict)), value)


def _array(stub: _Array, name: str, where: str) -> np.ndarray:
    if not stub.is_filled:
        raise FileFormatError(f"{where}: {name!r} was never filled")
    dtype = stub.dtype.resolved(f"{where}: {name[:80]!r}")
    if isinstance(stub.raw, list):
        raise UnsafeFileError(f"{where}: {name!r} holds objects", expected="numbers")
    try:
        raw = stub.raw.encode("latin-1") if isinstance(stub.raw, str) else stub.raw
    except UnicodeEncodeError as error:
        raise FileFormatError(f"{where}: the bytes of {name!r} are no bytes") from error
    n = math.prod(stub.shape)
    if n * dtype.itemsize != len(raw) or not is_possible_shape(stub.shape, dtype.itemsize):
        raise FileFormatError(
            f"{where}: {name!r} of shape {stub.shape}", expected=f"{n * dtype.itemsize} bytes", got=len(raw)
        )
    if n == 0:
        return np.zeros(stub.shape, dtype.newbyteorder("="))
    flat = np.frombuffer(raw, "|u1").astype(bool) if dtype.kind == "b" else np.frombuffer(raw, dtype)
    array = flat.reshape(stub.shape, order="F" if stub.fortran else "C")
    return array.astype(array.dtype.newbyteorder("="), order="C", copy=True)
