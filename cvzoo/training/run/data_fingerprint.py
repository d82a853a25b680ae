"""Fingerprints of data sets, for a fast comparison."""

import hashlib
import os
import pathlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.config.randomness import using_random_state
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sequence_dataset import as_sliceable
from cvzoo.typing.protocols import IndexableDataset

_FIRST = 10  # approximate number of examples that are always read; then ten times as many, and so on
_PHOTO_KEYS = ("img", "image")


def data_fingerprint(
    dataset: IndexableDataset[object], *, seconds: float = 5.0, clock: Callable[[], float] = time.monotonic
) -> dict[str, Any]:
    """The fingerprint of a data set: a dictionary for JSON; `same_data` compares two of them.

    n_example: number of examples; keys: names of their values; label_names: of the classes, None if there are none
    files: SHA-256 of the names and sizes of all image files in order, None if the images are not files
    content: by stride, SHA-256 of the values of every stride-th example: "1" means all, and is included if time allows
    dataset: anything with a length and indexed examples. Of image files only name and size are used, not the pixels;
        all else is read. Random transforms have a fixed seed, and the random state is restored
    seconds: approximate time limit, but about ten examples are always read
    clock: seconds, for tests
    """
    start = clock()
    source = as_sliceable(dataset)
    keys = (source.keys,) if isinstance(source.keys, str) else tuple(source.keys)
    names = [source.name(i) for i in range(len(source))]
    sizes = [_file_size(name) for name in names]
    are_files = bool(sizes) and all(size is not None for size in sizes)
    wanted = tuple(k for k, key in enumerate(keys) if not (are_files and key in _PHOTO_KEYS))
    fingerprint: dict[str, Any] = {
        "n_example": len(source),
        "keys": list(keys),
        "label_names": _label_names(dataset),
        "files": _files_digest(names, sizes) if are_files else None,
        "content": {},
    }
    if wanted:
        _add_content(fingerprint["content"], source, wanted, start + seconds, clock)
    return fingerprint


def same_data(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool | None:
    """Whether two fingerprints are of the same data; None if they have no stride in common."""
    if any(one[key] != other[key] for key in ("n_example", "keys", "label_names", "files")):
        return False
    common = set(one["content"]) & set(other["content"])
    if any(one["content"][stride] != other["content"][stride] for stride in common):
        return False
    return True if common or not (one["content"] or other["content"]) else None


def _add_content(
    content: dict[str, str],
    source: AbstractSliceableDataset,
    wanted: Sequence[int],
    deadline: float,
    clock: Callable[[], float],
) -> None:
    state = np.random.PCG64(0).state
    digests: dict[int, bytes] = {}  # of each example that was read, so that a finer stride reads only new ones
    each = 0.0
    stride = 1
    while stride * _FIRST < len(source):
        stride *= 10
    while stride:
        new = [i for i in range(0, len(source), stride) if i not in digests]
        now = clock()
        if content and now + each * len(new) > deadline:
            return
        for i in new:
            with using_random_state(state):
                values = source.get_example_by_keys(i, tuple(wanted))
            digest = hashlib.sha256()
            for value in values:
                _feed(digest, value)
            digests[i] = digest.digest()
        each = max(each, (clock() - now) / len(new)) if new else each
        whole = hashlib.sha256()
        for i in range(0, len(source), stride):
            whole.update(digests[i])
        content[str(stride)] = whole.hexdigest()
        stride //= 10


def _files_digest(names: Sequence[str], sizes: Sequence[int | None]) -> str:
    digest = hashlib.sha256()
    for name, size in zip(names, sizes):
        # without the folder: the same images in a different folder are the same data
        digest.update(f"{pathlib.PurePath(name).name}\0{size}\n".encode())
    return digest.hexdigest()


def _file_size(name: str) -> int | None:
    try:
        return os.stat(name).st_size
    except (OSError, ValueError):
        return None


def _label_names(dataset: object) -> list[str] | None:
    # views and transforms have no names of their own, and a list has none at all
    names = getattr(dataset, "label_names", None)
    return None if names is None else [str(name) for name in names]


def _feed(digest: "hashlib._Hash", value: object) -> None:
    """Adds a value to the digest, with its type, so that different values give different bytes."""
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        digest.update(f"{array.dtype.str}{np.shape(value)}".encode())
        digest.update(repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes())
    elif isinstance(value, Mapping):
        digest.update(f"mapping {len(value)}".encode())
        for key in sorted(value, key=repr):
            _feed(digest, key)
            _feed(digest, value[key])
    elif isinstance(value, list | tuple):
        digest.update(f"{type(value).__name__} {len(value)}".encode())
        for each in value:
            _feed(digest, each)
    elif isinstance(value, bytes):
        digest.update(f"bytes {len(value)} ".encode() + value)
    else:
        digest.update(f"{type(value).__name__} {value!r}".encode())
