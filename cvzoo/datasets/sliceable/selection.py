"""What stands in the brackets of `dataset.slice[...]`, turned into indices."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ExampleIndexError, NoSuchKeyError, ShapeError


def example_index(index, n_example):
    """A non-negative int. Raises DtypeError if `index` is no integer, ExampleIndexError if there is no such example."""
    try:
        number = index.__index__()
    except AttributeError:
        raise DtypeError("an example is asked for by an integer", got=repr(index)[:80]) from None
    if not -n_example <= number < n_example:
        raise ExampleIndexError(f"the data set has {n_example} examples and none of number {number}")
    return number % n_example


def example_indices(indices, n_example):
    """A range or (N,) int64, each in [0, n_example).

    indices: a slice, a list or array of integers, or a list or array of n_example booleans
    Raises ShapeError, DtypeError or ExampleIndexError.
    """
    if isinstance(indices, slice):
        return range(n_example)[indices]
    if isinstance(indices, range):
        indices = np.arange(indices.start, indices.stop, indices.step)
    wanted = np.asarray(indices)
    if wanted.size == 0 and wanted.ndim == 1:
        return range(0)
    if wanted.ndim != 1:
        raise ShapeError(
            "examples are chosen by a slice, a list of indices or a list of booleans",
            got=repr(indices)[:80],
            hint="dataset[i] for a single example",
        )
    if wanted.dtype == bool:
        if len(wanted) != n_example:
            raise ShapeError("a mask needs one boolean an example", expected=n_example, got=len(wanted))
        return np.flatnonzero(wanted)
    if wanted.dtype.kind not in "iu":
        raise DtypeError("examples are chosen by integers or booleans", got=wanted.dtype)
    wanted = wanted.astype(np.int64)
    outside = (wanted < -n_example) | (wanted >= n_example)
    if outside.any():
        first = wanted[outside][0]
        raise ExampleIndexError(f"the data set has {n_example} examples and none of number {first}")
    return np.where(wanted < 0, wanted + n_example, wanted)


def key_indices(chosen, keys):
    """(indices of the chosen keys, whether one key alone was chosen, so that examples are no tuples).

    chosen: a key's name or its number, a slice, a sequence of names or numbers, or of len(keys) booleans
    keys: the names, a tuple of str
    Raises NoSuchKeyError that lists the keys there are.
    """
    if isinstance(chosen, (str, int, np.integer)) and not isinstance(chosen, bool):
        return (_key_index(chosen, keys),), True
    if isinstance(chosen, slice):
        return tuple(range(len(keys))[chosen]), False
    try:
        chosen = tuple(chosen)
    except TypeError:
        raise DtypeError("keys are chosen by names or numbers", got=repr(chosen)[:80]) from None
    if chosen and all(isinstance(each, (bool, np.bool_)) for each in chosen):
        if len(chosen) != len(keys):
            raise ShapeError("a mask of keys needs one boolean a key", expected=keys, got=chosen)
        return tuple(k for k, each in enumerate(chosen) if each), False
    return tuple(_key_index(each, keys) for each in chosen), False


def _key_index(key, keys):
    if isinstance(key, str):
        if key in keys:
            return keys.index(key)
    elif isinstance(key, (int, np.integer)) and not isinstance(key, bool) and -len(keys) <= key < len(keys):
        return int(key) % len(keys)
    raise NoSuchKeyError("the data set has no such key", expected=", ".join(keys), got=repr(key)[:80])
