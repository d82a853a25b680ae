"""The file of `model.save_states`: a zip of `tensor_dict.npz` and `states_attr.json`, as SINGA writes it."""

import io
import json
import os
import zipfile
from collections.abc import Mapping

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import to_numpy
from cvzoo.errors.exceptions import DtypeError, FileError, FileFormatError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.files.zip_archive import SMALL, ZipArchive
from cvzoo.singa.tensor_class import float16, float32, int32
from cvzoo.typing.aliases import ArrayLike
from cvzoo.weights.formats.npz import parse_npy

TENSORS = "tensor_dict.npz"
ATTRIBUTES = "states_attr.json"
_MODEL, _AUXILIARY = 0, 1
_CODES = {float32: 0, float16: 1, int32: 2}  # SINGA's dtype codes
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)


def write_states(
    path: str | os.PathLike, states: Mapping[str, Variable | ArrayLike], aux_states: Mapping[str, Variable | ArrayLike]
) -> None:
    """Write Tensors by name.

    states: a model's; aux_states: others, Tensors, arrays or numbers
    Raises FileError if the file exists or a name is in both; DtypeError for values that are not numeric.
    """
    if os.path.exists(path):
        raise FileError(f"{path} is there already", hint="another name, or delete it first")
    if set(states) & set(aux_states):
        raise FileError(f"names of the model's own: {', '.join(set(states) & set(aux_states))}")
    arrays, attributes = {}, {}
    for kind, values in ((_MODEL, states), (_AUXILIARY, aux_states)):
        for name, value in values.items():
            array = _array(name, value)
            arrays[name] = array
            attributes[name] = {"state_type": kind, "shape": list(array.shape), "dtype": _CODES[array.dtype]}
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy", _FIRST_DATE), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, version=(1, 0))
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, content in ((TENSORS, inner.getvalue()), (ATTRIBUTES, json.dumps(attributes).encode())):
            info = zipfile.ZipInfo(name, _FIRST_DATE)
            # large arrays are not compressed: readers would take a large array of zeros for a zip bomb
            info.compress_type = zipfile.ZIP_DEFLATED if len(content) < SMALL else zipfile.ZIP_STORED
            archive.writestr(info, content)


def _array(name: str, value: Variable | ArrayLike) -> np.ndarray:
    array = np.asarray(to_numpy(value._array) if isinstance(value, Variable) else value)
    if array.dtype.kind not in "fiub":
        raise DtypeError(f"{name} is no Tensor, array or number", got=type(value).__name__)
    if array.dtype not in _CODES:
        array = array.astype(float32 if array.dtype.kind == "f" else int32)
    return np.ascontiguousarray(array).reshape(array.shape)


def read_states(path: str | os.PathLike) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """A model's arrays and the others, by name.

    Raises FileError if the file does not exist, FileFormatError for a foreign or damaged one.
    """
    if not os.path.isfile(path):
        raise FileError(f"{path}: there is no such file")
    with ZipArchive(path) as archive:
        try:
            attributes = json.loads(archive.read(ATTRIBUTES, limit=SMALL))
        except (ValueError, RecursionError) as error:
            raise FileFormatError(f"{path}: {ATTRIBUTES} is damaged: {error}") from error
        content = archive.read(TENSORS)
    arrays: tuple[dict[str, np.ndarray], dict[str, np.ndarray]] = {}, {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as inner:
            if sum(info.file_size for info in inner.infolist()) > max(SMALL, 20 * len(content)):
                raise FileFormatError(f"{path}: {TENSORS} decompresses to far more than its size")
            files = {name.removesuffix(".npy"): inner.read(name) for name in inner.namelist()}
    except zipfile.BadZipFile as error:
        raise FileFormatError(f"{path}: {TENSORS} is damaged: {error}") from error
    for name, data in files.items():
        entry = attributes.get(name) if isinstance(attributes, dict) else None
        kind = entry.get("state_type") if isinstance(entry, dict) else None
        if kind not in (_MODEL, _AUXILIARY):
            raise FileFormatError(f"{path}: {ATTRIBUTES} has no entry for {name[:80]!r}")
        arrays[kind][name] = parse_npy(data, f"{os.path.basename(path)}: {name[:80]!r}")
    return arrays
