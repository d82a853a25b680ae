"""The files of a materialized version with their SHA-256, listed beside its folder as JSON lines."""

import dataclasses
import json
import os
import pathlib
from collections.abc import Iterable, Mapping

from cvzoo.files.atomic_write import atomic_write
from cvzoo.files.file_hash import sha256_of
from cvzoo.studio.place import VERSION_FILES
from cvzoo.typing.aliases import FilePath


@dataclasses.dataclass(frozen=True)
class VersionFile:
    """A file. name: relative to the folder of the version, with "/"; size: bytes"""

    name: str
    size: int
    sha256: str


def list_files(folder: pathlib.Path, known: Mapping[tuple[int, int], str]) -> list[VersionFile]:
    """The files below a folder, by name. known: SHA-256 of images of the store, by device and inode: of hard links"""
    found = []
    for path in files_below(folder):
        status = path.stat()
        sha256 = known.get((status.st_dev, status.st_ino)) or sha256_of(path)
        found.append(VersionFile(path.relative_to(folder).as_posix(), status.st_size, sha256))
    return found


def write_files(folder: pathlib.Path, images: Iterable[FilePath]) -> None:
    """Writes the list of a version's folder. images: files of the store, named by their hashes. Raises OSError."""
    known = {}
    for path in images:
        status = os.stat(path)
        known[status.st_dev, status.st_ino] = os.path.basename(path)
    with atomic_write(folder.with_name(folder.name + VERSION_FILES)) as file:
        for each in list_files(folder, known):
            file.write(json.dumps(dataclasses.asdict(each)).encode() + b"\n")


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
    paths = (pathlib.Path(root, name) for root, _, names in os.walk(folder) for name in names)
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())
