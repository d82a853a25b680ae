"""The files of a materialized version with their SHA-256, listed beside its folder as JSON lines."""

import dataclasses
import json
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping

from cvzoo.files.atomic_write import atomic_write
from cvzoo.files.file_hash import sha256_of
from cvzoo.studio.place import VERSION_FILES


@dataclasses.dataclass(frozen=True)
class VersionFile:
    """A file. name: relative to the folder of the version, with "/"; size: bytes"""

    name: str
    size: int
    sha256: str


def list_files(folder: pathlib.Path, known: Mapping[tuple[int, int], str]) -> list[VersionFile]:
    """The files below a folder, by name. known: SHA-256 of images of the store, by device and inode: of hard links"""
    return list(_hashed(folder, known))


def write_files(folder: pathlib.Path, images: Iterable[str]) -> None:
    """Writes the list of a version's folder. images: files of the store, named by their hashes. Raises OSError."""
    known = {}
    for path in images:
        status = os.stat(path)
        known[status.st_dev, status.st_ino] = path.rpartition("/")[2]
    with atomic_write(folder.with_name(folder.name + VERSION_FILES)) as file:
        for each in _hashed(folder, known):
            file.write(json.dumps(vars(each)).encode() + b"\n")


def _hashed(folder: pathlib.Path, known: Mapping[tuple[int, int], str]) -> Iterator[VersionFile]:
    for name, key, size in _below(folder):
        yield VersionFile(name, size, known.get(key) or sha256_of(folder / name))


def read_files(folder: pathlib.Path) -> list[VersionFile] | None:
    """The list of a version's folder; None if there is none, as of a version that was made before there were lists.

    Raises ValueError if it is damaged.
    """
    try:
        lines = folder.with_name(folder.name + VERSION_FILES).read_bytes().splitlines()
    except FileNotFoundError:
        return None
    try:
        found = [VersionFile(**json.loads(line)) for line in lines]
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if not all(isinstance(each.name, str) and isinstance(each.size, int) for each in found):
        raise ValueError("it is malformed")
    return found


def files_below(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files below a folder, no links among them, by name."""
    return [folder / name for name, _, _ in _below(folder)]


def _below(folder: pathlib.Path) -> list[tuple[str, tuple[int, int], int]]:
    """(name relative to the folder, with "/", (device, inode), size) of the files below it, as paths are sorted."""
    found = []
    for prefix, entries in _folders(folder):
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                found.append((prefix + entry.name, (status.st_dev, status.st_ino), status.st_size))
    return sorted(found, key=lambda each: each[0].split("/"))


def _folders(folder: pathlib.Path, prefix: str = "") -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """(beginning of the names in it, entries) of the folder and of those below it, but those that cannot be read."""
    try:
        with os.scandir(folder / prefix) as found:
            entries = list(found)
    except OSError:
        return
    yield prefix, entries
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _folders(folder, f"{prefix}{entry.name}/")
