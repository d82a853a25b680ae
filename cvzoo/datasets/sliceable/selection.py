"""Converts the rows and keys of `dataset.slice[rows, keys]` to indices."""

from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ExampleIndexError, NoSuchKeyError, ShapeError
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array

Rows: TypeAlias = range | Array  # indices of examples; an array is (N,) int64


def example_index(index: SupportsIndex, n_example: int) -> int:
    """A non-negative int. Raises DtypeError if `index` is not an integer, ExampleIndexError if it is out of range."""
    try:
        number = index.__index__()
    except AttributeError:
        raise DtypeError("the index of an example must be an integer", got=repr(index)[:80]) from None
    if not -n_example <= number < n_example:
        raise ExampleIndexError(f"index {number} is out of range for a data set of {counted(n_example, 'example')}")
    return number % n_example


def example_indices(indices: slice | Sequence[int] | Array, n_example: int) -> Rows:
    """A range or (N,) int64, each in [0, n_example).

    indices: a slice, a list or array of integers, or a list or array of n_example booleans
    Raises ShapeError, DtypeError or ExampleIndexError.
    """
    if isinstance(indices, slice):
        return range(n_example)[indices]
    if isinstance(indices, range):
        indices = np.arange(indices.start, indices.stop, indices.step)
    rows = np.asarray(indices)
    if rows.size == 0 and rows.ndim == 1:
        return range(0)
    if rows.ndim != 1:
        raise ShapeError(
            "rows must be a slice, a list of indices or a list of booleans",
            got=repr(indices)[:80],
            hint="dataset[i] for a single example",
        )
    if rows.dtype == bool:
        if len(rows) != n_example:
            raise ShapeError("a boolean index needs one value per example", expected=n_example, got=len(rows))
        return np.flatnonzero(rows)
    if rows.dtype.kind not in "iu":
        raise DtypeError("rows must be integers or booleans", got=rows.dtype)
    rows = rows.astype(np.int64)
    outside = (rows < -n_example) | (rows >= n_example)
    if outside.any():
        first = rows[outside][0]
        raise ExampleIndexError(f"index {first} is out of range for a data set of {counted(n_example, 'example')}")
    return np.where(rows < 0, rows + n_example, rows)


def key_indices(chosen: Any, keys: tuple[str, ...]) -> tuple[tuple[int, ...], bool]:
    """(indices of the selected keys, whether a single key was selected, so that examples are values and not tuples).

    chosen: a key's name or index, a slice, a sequence of names or indices, or of len(keys) booleans
    keys: the names, a tuple of str
    Raises NoSuchKeyError that lists the existing keys.
    """
    if isinstance(chosen, (str, int, np.integer)) and not isinstance(chosen, bool):
        return (_key_index(chosen, keys),), True
    if isinstance(chosen, slice):
        return tuple(range(len(keys))[chosen]), False
    several: Any = chosen
    try:
        several = tuple(several)
    except TypeError:
        raise DtypeError("keys must be names or indices", got=repr(chosen)[:80]) from None
    if several and all(isinstance(each, (bool, np.bool_)) for each in several):
        if len(several) != len(keys):
            raise ShapeError("a boolean index of keys needs one value per key", expected=keys, got=several)
        return tuple(k for k, each in enumerate(several) if each), False
    return tuple(_key_index(each, keys) for each in several), False


def _key_index(key: object, keys: tuple[str, ...]) -> int:
    if isinstance(key, str):
        if key in keys:
            return keys.index(key)
    elif isinstance(key, (int, np.integer)) and not isinstance(key, bool) and -len(keys) <= key < len(keys):
        return int(key) % len(keys)
    raise NoSuchKeyError(f"the data set has no key {key!r:.80}", expected=", ".join(keys), got=repr(key)[:80])
