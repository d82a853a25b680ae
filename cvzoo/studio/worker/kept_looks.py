"""What the check of a data set found in each image, kept for the next check by what it depends on.

An image's entry is found by the hash of its row, and holds only while the file of the image's properties has the same
time and size, and the program is the same: whatever else happened to the data set, such as a restored backup, an
outdated entry is not found, and the image is looked at again.
"""

import functools
import hashlib
import importlib
import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cvzoo.files.atomic_write import atomic_write


class Look(NamedTuple):
    """What is kept of an image.

    stamp: time and size of the file of its properties, [] if it is missing; is_comparable: whether these have a hash
    used: the number of objects of each class; edges: as of `edge_counts`
    fault: of `image_fault`, (kind, message, object, whether it is certain); None: none
    is_explained: whether the fault is why boxes are outside; findings: (kind, message, object) of all other faults
    """

    ordinal: int
    name: str
    sha256: str
    split: str
    stamp: list[int]
    is_comparable: bool
    used: dict[str, int]
    edges: tuple[int, int, int]
    fault: tuple[str, str, str | None, bool] | None
    is_explained: bool
    findings: list[tuple[str, str, str | None]]


class Kept(NamedTuple):
    """What is kept of a data set.

    looks: by the hash of the image's row; whole: findings about the whole data set that explain those of boxes
    pairs: (a, b, whether b is a near-duplicate of a if a comes first, and a of b if b does) of SHA-256, a < b, of all
        comparable images
    """

    looks: Mapping[str, Look]
    whole: list[str]
    pairs: list[tuple[str, str, bool, bool]]


NOTHING = Kept({}, [], [])


def read_kept(path: pathlib.Path, task: str) -> Kept:
    """What was kept; nothing of another program or task, or of a damaged file."""
    try:
        head, _, body = path.read_bytes().partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != head:
            return NOTHING
        tree: dict[str, Any] = json.loads(body)
    except (OSError, ValueError):
        return NOTHING
    if tree["program"] != _program() or tree["task"] != task:
        return NOTHING
    looks = tree["looks"]
    for key in looks:  # in place: with all lists beside them, 100,000 looks would take twice the memory
        looks[key] = Look(*looks[key])
    return Kept(looks, tree["whole"], [(a, b, first, second) for a, b, first, second in tree["pairs"]])


def write_kept(path: pathlib.Path, task: str, kept: Kept) -> None:
    """Keeps it; a damaged file is made again, so that nothing waits until it is on the disk. Raises OSError."""
    body = json.dumps({"program": _program(), "task": task, **kept._asdict()}).encode()
    with atomic_write(path, is_durable=False) as file:
        file.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def key_of(line: bytes) -> str:
    """The hash of an image's row."""
    return hashlib.blake2b(line, digest_size=16).hexdigest()


def stamp_of(images: str, sha256: str) -> list[int]:
    """Time and size of the file of an image's properties, [] if it is missing. images: the store's folder"""
    try:
        found = os.stat(f"{images}/{sha256[:2]}/{sha256}.json")
    except OSError:
        return []
    return [found.st_mtime_ns, found.st_size]


@functools.cache
def _program() -> str:
    """The hash of what findings follow from: the version, and the files of the checks, which a checkout may change."""
    digest = hashlib.sha256(importlib.import_module("cvzoo").__version__.encode())
    for path in _sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterator[pathlib.Path]:
    root = pathlib.Path(__file__).parents[2]
    for folder in ("datasets/doctor", "datasets/layouts", "studio/worker"):
        yield from sorted((root / folder).glob("*.py"))
    yield root / "studio" / "data" / "labels.py"
    yield root / "studio" / "photos" / "imaging.py"
    yield root / "geometry" / "rle.py"
