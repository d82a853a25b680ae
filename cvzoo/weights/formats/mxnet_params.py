"""MXNet's `.params` files, as written by `nd.save`, a module's checkpoint or a Block's `save_parameters`.

Source: the layout in MXNet's src/ndarray/ndarray.cc, versions 0 to 3 of its arrays. We differ: sparse arrays are
refused; every length is checked against the size of the file before memory is allocated.
"""

import io
import math
import os
import struct
from typing import BinaryIO

import numpy as np

from cvzoo.errors.exceptions import FileError, FileFormatError, UnsupportedError, WeightsMismatchError
from cvzoo.files.file_bytes import file_size
from cvzoo.files.zip_archive import ZipArchive
from cvzoo.reporting.counted import counted
from cvzoo.weights.formats.declared_shape import MAX_RANK, is_possible_shape
from cvzoo.weights.formats.torch_tensor import widen_bfloat16
from cvzoo.weights.magic_numbers import MXNET_MAGIC

V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA  # of an array; version 0 has its rank instead
DTYPES = {
    0: "<f4",
    1: "<f8",
    2: "<f2",
    3: "|u1",
    4: "<i4",
    5: "|i1",
    6: "<i8",
    7: "|b1",
    8: "<i2",
    12: "<u2",  # bfloat16
}
BFLOAT16 = 12
MAX_NAME = 4096
MAX_ARRAYS = 100_000  # the largest networks have some thousands
PREFIXES = ("arg:", "aux:")


def read_mxnet_params(path: str | os.PathLike, *, drop_prefix: bool = True) -> dict[str, np.ndarray]:
    """The arrays in a `.params` file by name, in the file's order, each with its own memory; also of a `.zip` with one
    such file.

    drop_prefix: remove the prefixes "arg:" and "aux:" of checkpoints from names
    bfloat16 becomes float32. Arrays without a shape are dropped.
    Raises FileFormatError, naming the array if possible, for a damaged file; UnsupportedError for sparse arrays and for
    files whose arrays have no names; WeightsMismatchError for duplicate names.
    """
    where = os.path.basename(path)
    size = file_size(path)
    try:
        with open(path, "rb") as file:
            if file.read(4) == b"PK\x03\x04":
                data = _from_zip(path)
                return _arrays(_Bytes(io.BytesIO(data), len(data), where), drop_prefix)
            file.seek(0)
            return _arrays(_Bytes(file, size, where), drop_prefix)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error}") from error


def _from_zip(path: str | os.PathLike) -> bytes:
    with ZipArchive(path) as archive:
        entries = [name for name in archive.names if name.endswith(".params")]
        if len(entries) != 1:
            raise FileFormatError(f"{path}: the archive must contain one .params file", got=list(archive.names[:4]))
        return archive.read(entries[0])


class _Bytes:
    """A file that is read sequentially, with errors instead of short reads."""

    def __init__(self, file: BinaryIO, size: int, where: str):
        self._file, self.left, self.where = file, size, where

    def take(self, n: int, what: str) -> bytes:
        if n > self.left:
            raise FileFormatError(
                f"{self.where}: ends inside of {what}", expected=f"{n} bytes", got=f"{self.left} left"
            )
        raw = self._file.read(n)
        if len(raw) != n:
            raise FileFormatError(f"{self.where}: ends inside of {what}; it changed while being read")
        self.left -= n
        return raw

    def number(self, form: str, what: str) -> int:
        return struct.unpack(form, self.take(struct.calcsize(form), what))[0]


def _arrays(file: _Bytes, drop_prefix: bool) -> dict[str, np.ndarray]:
    magic = file.number("<Q", "the header")
    if magic != MXNET_MAGIC:
        raise FileFormatError(f"{file.where}: no MXNet .params file", expected=hex(MXNET_MAGIC), got=hex(magic))
    file.number("<Q", "the header")  # reserved
    n = file.number("<Q", "the header")
    if n > MAX_ARRAYS:
        raise FileFormatError(
            f"{file.where}: the header declares {counted(n, 'array')}", expected=f"at most {MAX_ARRAYS}"
        )
    if n > file.left // 4:  # an array has at least four bytes
        raise FileFormatError(
            f"{file.where}: the header declares {counted(n, 'array')}", got=f"{file.left} bytes for them"
        )
    arrays = [_array(file, f"array {i}") for i in range(n)]
    names = _names(file)
    if file.left:
        raise FileFormatError(f"{file.where}: {file.left} bytes too many at the end")
    if not names and n:
        raise UnsupportedError(
            f"{file.where}: its {counted(n, 'array has no name', 'arrays have no names')}", hint="save a dict of arrays"
        )
    if len(names) != n:
        raise FileFormatError(f"{file.where}: has {counted(n, 'array')} and {counted(len(names), 'name')}")
    by_name: dict[str, np.ndarray] = {}
    for name, array in zip(names, arrays):
        if drop_prefix and name.startswith(PREFIXES):
            name = name[4:]
        if name in by_name:
            raise WeightsMismatchError(f"{file.where}: two arrays are called {name[:80]!r}")
        if array is not None:
            by_name[name] = array
    return by_name


def _names(file: _Bytes) -> list[str]:
    n = file.number("<Q", "the names")
    if n > min(file.left // 8, MAX_ARRAYS):
        raise FileFormatError(
            f"{file.where}: the header declares {counted(n, 'name')}", got=f"{file.left} bytes for them"
        )
    names = []
    for i in range(n):
        length = file.number("<Q", f"name {i}")
        if length > MAX_NAME:
            raise FileFormatError(f"{file.where}: name {i} is too long", expected=MAX_NAME, got=length)
        try:
            names.append(file.take(length, f"name {i}").decode("utf-8"))
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{file.where}: name {i} is not UTF-8") from error
    return names


def _array(file: _Bytes, what: str) -> np.ndarray | None:
    version = file.number("<I", what)
    if version in (V2, V3):
        kind = file.number("<i", what)
        if kind != 0:
            raise UnsupportedError(f"{file.where}: {what} is sparse", hint="cast it to dense storage in MXNet")
        rank = file.number("<i", what)
    elif version == V1:
        rank = file.number("<i", what)
    else:
        rank = version
    # without a shape nothing follows; the empty shape is a scalar's since version 3 only
    if rank == (-1 if version == V3 else 0):
        return None
    if not 0 <= rank <= MAX_RANK:
        raise FileFormatError(f"{file.where}: {what} has rank {rank}", expected=f"at most {MAX_RANK}")
    is_old = version not in (V1, V2, V3)
    form = f"<{rank}{'I' if is_old else 'q'}"
    shape = struct.unpack(form, file.take(struct.calcsize(form), f"the shape of {what}"))
    file.take(8, what)  # type and index of its device
    code = file.number("<i", what)
    if code not in DTYPES:
        raise FileFormatError(f"{file.where}: {what} has an unknown dtype", expected=f"one of {list(DTYPES)}", got=code)
    dtype = np.dtype(DTYPES[code])
    if min(shape, default=0) < 0 or not is_possible_shape(shape, dtype.itemsize):
        raise FileFormatError(f"{file.where}: {what} has an impossible shape", got=shape)
    raw = file.take(math.prod(shape) * dtype.itemsize, f"{what} of shape {shape}")
    if code == 7:
        return np.frombuffer(raw, "|u1").reshape(shape).astype(bool)  # any nonzero byte is true
    array = np.frombuffer(raw, dtype).reshape(shape)
    return widen_bfloat16(array) if code == BFLOAT16 else array.astype(dtype.newbyteorder("="))
