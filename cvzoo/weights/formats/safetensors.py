"""The `.safetensors` format: a JSON header with names, dtypes, shapes and offsets, then the values.

Source: the format's own page (https://github.com/huggingface/safetensors, README, "Format"). We differ: bfloat16 is
widened to float32 when read; dtypes that NumPy lacks are refused by name.
"""

import json
import math
import os
from collections.abc import Mapping

import numpy as np

from cvzoo.errors.exceptions import DtypeError, FileError, FileFormatError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.files.file_bytes import file_size
from cvzoo.weights.formats.declared_shape import MAX_RANK, is_possible_shape
from cvzoo.weights.formats.torch_tensor import widen_bfloat16

MAX_HEADER = 100_000_000  # the format's own limit
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "<i1",
    "U8": "<u1",
    "BOOL": "|b1",
}
_NAMES = {np.dtype(code): name for name, code in DTYPES.items() if name != "BF16"}


def read_safetensors(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The arrays in the file by name, in the order of their offsets, each with its own memory.

    Raises FileFormatError, naming the array if possible, if the header or an offset is invalid or NumPy lacks the
    dtype.
    """
    header, start, size = _read_header(path)
    entries = _checked(header, size - start, os.path.basename(path))
    arrays = {}
    with open(path, "rb") as file:
        for name, (kind, shape, begin, end) in entries.items():
            file.seek(start + begin)
            raw = file.read(end - begin)
            if len(raw) != end - begin:
                raise FileFormatError(f"{path}: ends inside of {name!r}; it changed while being read")
            array = np.frombuffer(raw, "|u1" if kind == "BOOL" else DTYPES[kind]).reshape(shape)
            if kind == "BF16":
                arrays[name] = widen_bfloat16(array)
            elif kind == "BOOL":
                arrays[name] = array.astype(bool)  # any nonzero byte is true
            else:
                arrays[name] = array.astype(array.dtype.newbyteorder("="))
    return arrays


def read_safetensors_metadata(path: str | os.PathLike) -> dict[str, str]:
    """The metadata in the file's header, texts by name; may be empty."""
    header, _, _ = _read_header(path)
    metadata = header.get("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise FileFormatError(f"{path}: its metadata are not texts")
    return metadata


def _read_header(path: str | os.PathLike) -> tuple[dict, int, int]:
    """The header, the offset of the values, and the file's size."""
    size = file_size(path)
    try:
        with open(path, "rb") as file:
            head = file.read(8)
            n = int.from_bytes(head, "little")
            if len(head) < 8 or n > size - 8 or n > MAX_HEADER:
                raise FileFormatError(f"{path}: no safetensors file, or cut off", expected=f"a header of {n} bytes")
            raw = file.read(n)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error}") from error
    try:
        header = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}: the header is damaged: {str(error)[:200]}") from error
    if not isinstance(header, dict):
        raise FileFormatError(f"{path}: the header is not an object")
    return header, 8 + n, size


def _unique(pairs: list) -> dict:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name occurs twice")
    return values


def _checked(header: dict, n_byte: int, where: str) -> dict[str, tuple[str, tuple[int, ...], int, int]]:
    """name -> (dtype, shape, begin, end), by offset; the arrays must fill the file without gap or overlap."""
    entries = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        wrong = FileFormatError(f"{where}: the entry of {name[:80]!r} is damaged")
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise wrong
        kind, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not _are_sizes(shape, MAX_RANK) or not _are_sizes(place, 2) or len(place) != 2 or not isinstance(kind, str):
            raise wrong
        if kind not in DTYPES:
            raise FileFormatError(f"{where}: {name[:80]!r} has dtype {kind[:20]!r}", expected=", ".join(DTYPES))
        itemsize = np.dtype(DTYPES[kind]).itemsize
        if not is_possible_shape(shape, itemsize):
            raise FileFormatError(f"{where}: {name[:80]!r} has an impossible shape", got=shape)
        want = math.prod(shape) * itemsize
        begin, end = place
        if not begin <= end <= n_byte:
            raise FileFormatError(f"{where}: {name[:80]!r} reaches past the end", expected=f"{n_byte} bytes", got=end)
        if end - begin != want:
            raise FileFormatError(f"{where}: {name[:80]!r} of shape {shape}", expected=f"{want} bytes", got=end - begin)
        entries[name] = kind, tuple(shape), begin, end
    entries = dict(sorted(entries.items(), key=lambda item: item[1][2:]))
    position = 0
    for name, (_, _, begin, end) in entries.items():
        if begin != position:
            raise FileFormatError(f"{where}: a gap or an overlap before {name[:80]!r}", expected=position, got=begin)
        position = end
    if position != n_byte:
        raise FileFormatError(f"{where}: {n_byte - position} bytes belong to no array")
    return entries


def _are_sizes(value: object, most: int) -> bool:
    return isinstance(value, list) and len(value) <= most and all(type(n) is int and 0 <= n < 1 << 48 for n in value)


def write_safetensors(
    path: str | os.PathLike, arrays: Mapping[str, np.ndarray], *, metadata: Mapping[str, str] | None = None
) -> None:
    """Write the arrays atomically and reproducibly: equal arrays give equal bytes.

    metadata: texts for the header, such as the license
    Raises DtypeError for a dtype that the format lacks.
    """
    header: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    plain, position = {}, 0
    for name, array in arrays.items():
        array = np.asarray(array)
        kind = _NAMES.get(array.dtype.newbyteorder("<"))
        if kind is None or name == "__metadata__":
            raise DtypeError(f"{name}: cannot be stored as safetensors", expected=", ".join(DTYPES), got=array.dtype)
        plain[name] = array.astype(array.dtype.newbyteorder("<"), copy=False)
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [position, position + array.nbytes],
        }
        position += array.nbytes
    raw = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    raw += b" " * (-len(raw) % 8)  # aligns the values to 8 bytes
    with atomic_write(path) as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        for array in plain.values():
            # a contiguous array, which may have gigabytes, is written without a copy
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
