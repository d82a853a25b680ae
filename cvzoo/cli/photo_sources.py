"""Which photos the words of a command line mean: files, globs, folders, and `-` for a list on standard input."""

import glob
import os
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cvzoo.images.list_image_files import list_image_files


class Trouble(NamedTuple):
    """A photo, or a word of the command line, that could not be used, and why."""

    name: str
    why: str


def photo_sources(words: Sequence[str], listed: Iterable[bytes]) -> tuple[Iterable[pathlib.Path | Trouble], int | None]:
    """The photos in order, and how many they are; None if that is not known before the list has been read.

    words: paths of files, globs such as "photos/**/*.jpg", folders (the photos in them, not in folders below), and "-"
    listed: the lines of the list that "-" stands for; it is read while the photos are asked for, blank lines left out
    """
    if "-" in words:
        return _each(words, listed), None
    found = list(_each(words, ()))
    return found, len(found)


def _each(words: Iterable[str], listed: Iterable[bytes]) -> Iterator[pathlib.Path | Trouble]:
    for word in words:
        if word == "-":
            empty = True
            for line in listed:
                name = os.fsdecode(line.rstrip(b"\r\n"))
                if name.strip():
                    empty = False
                    yield from _meant_by(name)
            if empty:  # as with an empty folder, who lists photos expects some
                yield Trouble("-", "the list on standard input is empty")
        else:
            yield from _meant_by(word)


def _meant_by(word: str) -> Iterator[pathlib.Path | Trouble]:
    path = pathlib.Path(word)
    try:
        if path.is_dir():
            found = list_image_files(path)
            if not found:
                deeper = pathlib.Path(glob.escape(word)) / "**" / "*.jpg"
                yield Trouble(word, f"no photos in this folder; for those in folders below: '{deeper}'")
            yield from found
        elif path.exists() or not glob.has_magic(word):
            # a file that is not there is told when it is read, like any other that cannot be
            yield path
        else:
            found = sorted(name for name in glob.iglob(word, recursive=True) if not os.path.isdir(name))
            if not found:
                yield Trouble(word, "no file matches")
            yield from map(pathlib.Path, found)
    except (OSError, ValueError) as error:  # a folder that may not be looked into; a name with a zero byte
        yield Trouble(word, str(error))
