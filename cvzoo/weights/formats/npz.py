"""NumPy's `.npz`: read without pickle and without trusting declared sizes, written reproducibly.

Source: the description in `numpy.lib.format`. We differ: arrays of objects and of records are refused, and headers
are parsed by a regular expression, not evaluated.
"""

import math
import os
import re
import zipfile
from collections.abc import Mapping

import numpy as np

from cvzoo.errors.exceptions import DtypeError, FileFormatError, UnsafeFileError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.files.zip_archive import SMALL, ZipArchive
from cvzoo.weights.formats.declared_shape import is_possible_shape

MAGIC = b"\x93NUMPY"
_HEADER = re.compile(
    r"\{\s*'descr':\s*'(?P<descr>[^'\\]*)',\s*'fortran_order':\s*(?P<fortran>True|False),"
    r"\s*'shape':\s*\((?P<shape>[\d,\sL]*)\),?\s*\}\s*"
)
_DESCR = re.compile(r"[<>|=]?[?bBiufcUS]\d{0,9}")
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # zip's earliest date; a real one would not be reproducible


def read_npz(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The arrays in the file by name, in the file's order, each with its own memory and in native byte order.

    Raises UnsafeFileError for an array of objects or a decompression bomb; FileFormatError, naming the array, for a
    damaged one.
    """
    arrays: dict[str, np.ndarray] = {}
    with ZipArchive(path) as archive:
        for entry in archive.names:
            name = entry.removesuffix(".npy")
            if name in arrays:
                raise FileFormatError(f"{path}: two arrays are called {name[:80]!r}")
            arrays[name] = parse_npy(archive.read(entry), f"{os.path.basename(path)}: {name[:80]!r}")
    return arrays


def parse_npy(data: bytes, where: str) -> np.ndarray:
    """The array in the bytes of a `.npy` file. where: its name, for errors."""
    if data[:6] != MAGIC or len(data) < 10:
        raise FileFormatError(f"{where} is no array in NumPy's format", got=data[:6])
    wide = data[6] >= 2
    start = 12 if wide else 10
    size = int.from_bytes(data[8:start], "little")
    if data[6] not in (1, 2, 3) or size > len(data) - start or size > 1 << 16:
        raise FileFormatError(f"{where}: its header is damaged")
    match = _HEADER.fullmatch(data[start : start + size].decode("latin-1"))
    if match is None or not _DESCR.fullmatch(match["descr"]):
        descr = match["descr"] if match else ""
        if "O" in descr:
            raise UnsafeFileError(f"{where} holds pickled objects, which could run code; nothing was run")
        raise FileFormatError(f"{where}: its header is damaged or of a kind that weights do not have")
    try:
        dtype = np.dtype(match["descr"])
        shape = tuple(int(n) for n in match["shape"].replace("L", "").split(",") if n.strip())
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"{where}: its header is damaged: {error}") from error
    n, rest = math.prod(shape), len(data) - start - size
    if dtype.itemsize == 0:  # any shape would match 0 bytes, and NumPy would allocate a letter per item
        raise FileFormatError(f"{where}: its numbers have no bytes", got=match["descr"])
    if n * dtype.itemsize != rest or not is_possible_shape(shape, dtype.itemsize):
        raise FileFormatError(
            f"{where}: shape and bytes disagree", expected=f"{n} numbers of {dtype.itemsize} bytes", got=f"{rest} bytes"
        )
    if n == 0:
        return np.zeros(shape, dtype.newbyteorder("="))
    flat = np.frombuffer(data, dtype, n, start + size).astype(dtype.newbyteorder("="))
    return flat.reshape(shape, order="F" if match["fortran"] == "True" else "C").copy(order="C")


def write_npz(path: str | os.PathLike, arrays: Mapping[str, np.ndarray], *, compress: bool = False) -> None:
    """Write the arrays atomically and reproducibly: equal arrays give equal bytes.

    Raises DtypeError for arrays of objects or records.
    """
    for name, array in arrays.items():
        dtype = np.asarray(array).dtype
        if not _DESCR.fullmatch(dtype.str):
            raise DtypeError(f"{name}: an array of {dtype} does not go into an .npz of weights")
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with atomic_write(path) as file, zipfile.ZipFile(file, "w", kind) as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy", _FIRST_DATE)
            # large arrays are not compressed, since zeros would look like a decompression bomb to readers
            info.compress_type = kind if np.asarray(array).nbytes < SMALL else zipfile.ZIP_STORED
            info.external_attr = 0o644 << 16
            with archive.open(info, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.ascontiguousarray(array).reshape(np.shape(array)), version=(1, 0))
