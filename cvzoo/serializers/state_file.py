"""Serialization of a tree of dictionaries, lists, arrays, numbers and strings to one file.

The file is an `.npz`: the arrays, and the rest as JSON in an entry "tree". No code in it is ever executed, and each
entry has a checksum.
"""

import json
import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.backends.arrays import is_array, to_numpy
from cvzoo.errors.exceptions import DtypeError, FileFormatError
from cvzoo.files.zip_archive import ZipArchive
from cvzoo.weights.formats.npz import parse_npy, read_npz, write_npz

_ARRAY, _SCALAR = "$array", "$scalar"  # keys in the JSON that refer to an array or hold a NumPy scalar
_FORMAT = 1


def write_state(path: str | os.PathLike, tree: Mapping[str, Any], *, order: int = 0, compress: bool = False) -> None:
    """Write the tree to a file, atomically.

    order: larger than that of any older file of the same kind, for `state_order`
    Raises DtypeError, with the path in the tree, for values other than dictionaries with str keys, lists, tuples (read
    back as lists), arrays, numbers, str, bool and None.
    """
    arrays: dict[str, np.ndarray] = {}
    about = {"format": _FORMAT, "order": order, "saved_at": time.time_ns(), "tree": _outline(tree, "", arrays)}
    text = json.dumps(about, ensure_ascii=False, separators=(",", ":"))
    write_npz(path, {"tree": np.frombuffer(text.encode("utf-8"), np.uint8), **arrays}, compress=compress)


def read_state(path: str | os.PathLike) -> dict[str, Any]:
    """Read the tree from a file.

    Raises FileFormatError for a damaged, truncated or foreign file; FileError if it cannot be read.
    """
    arrays = read_npz(path)
    if "tree" not in arrays:
        raise FileFormatError(f"{path}: not a state that cvzoo wrote", expected="an entry 'tree'", got=list(arrays)[:4])
    about = _parsed(path, arrays.pop("tree"))
    return _filled(about["tree"], arrays, path)


def state_order(path: str | os.PathLike) -> tuple[int, int]:
    """A sort key by age, larger for a file that was written later: its `order`, then nanoseconds since 1970.

    The order comes first, since clocks may be set back; files without an order sort as the oldest. Raises as
    `read_state`.
    """
    with ZipArchive(path) as archive:
        about = _parsed(path, parse_npy(archive.read("tree.npy"), f"{path}: 'tree'"))
    return about["order"], about["saved_at"]


def _parsed(path: str | os.PathLike, raw: np.ndarray) -> dict[str, Any]:
    try:
        about = json.loads(raw.astype(np.uint8).tobytes().decode("utf-8"))
        about.setdefault("order", 0)
        is_complete = isinstance(about["tree"], dict) and all(isinstance(about[k], int) for k in ("order", "saved_at"))
        known = about["format"] == _FORMAT and is_complete
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileFormatError(f"{path}: the tree is damaged: {str(error)[:200]}") from error
    if not known:
        raise FileFormatError(f"{path}: a state of another format", expected=_FORMAT, got=str(about["format"])[:40])
    return about


def _outline(value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
    """The tree as JSON values; arrays are moved to `arrays`, by their path in the tree."""
    if value is None or isinstance(value, bool | str):
        return value
    if is_array(value):
        value = to_numpy(value)
    if isinstance(value, np.ndarray | np.generic) and not isinstance(value, np.str_):
        name = path.lstrip("/")
        while name in arrays or name == "tree":
            name += "_"
        arrays[name] = np.asarray(value)
        return {_ARRAY: name} if isinstance(value, np.ndarray) else {_SCALAR: name}
    if isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, str) or key in (_ARRAY, _SCALAR)]
        if wrong:
            raise DtypeError(f"state: keys must be texts, at {path or '/'}", got=repr(wrong[0]))
        return {key: _outline(each, f"{path}/{key}", arrays) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_outline(each, f"{path}/{number}", arrays) for number, each in enumerate(value)]
    raise DtypeError(
        f"state: {type(value).__name__} cannot be stored, at {path or '/'}",
        expected="dictionaries, lists, arrays, numbers, texts, None",
    )


def _filled(value: Any, arrays: Mapping[str, np.ndarray], path: str | os.PathLike) -> Any:
    if isinstance(value, list):
        return [_filled(each, arrays, path) for each in value]
    if not isinstance(value, dict):
        return value
    for key in (_ARRAY, _SCALAR):
        if key in value:
            name = value[key]
            if not isinstance(name, str) or name not in arrays or (key == _SCALAR and arrays[name].ndim):
                raise FileFormatError(f"{path}: the array {str(name)[:80]!r} is missing")
            return arrays[name] if key == _ARRAY else arrays[name][()]
    return {key: _filled(each, arrays, path) for key, each in value.items()}
