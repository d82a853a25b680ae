"""Which photos the words of a command line mean: files, globs, folders, addresses, and `-` for a list of them."""

import glob
import os
import pathlib
import re
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_url import read_image_url
from cvzoo.images.why_no_image import why_no_image

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")


class Trouble(NamedTuple):
    """A photo, or a word of the command line, that could not be used, and why."""

    name: str
    why: str


class Address(str):
    """The http or https address of a photo."""


Photo = pathlib.Path | Address


def read_photo(photo: Photo) -> np.ndarray:
    """As `read_image` and `read_image_url` give it, and raise."""
    return read_image_url(photo) if isinstance(photo, Address) else read_image(photo)


def path_of(photo: Photo) -> pathlib.PurePath:
    """The path after which its results are named; of an address that without host and query."""
    if not isinstance(photo, Address):
        return photo
    path = urllib.parse.unquote(urllib.parse.urlsplit(photo).path)
    return pathlib.PurePosixPath("".join(each if each.isprintable() and each != "\\" else "_" for each in path))


def photo_sources(words: Sequence[str], listed: Iterable[bytes]) -> tuple[Iterable[Photo | Trouble], int | None]:
    """The photos in order, and how many they are; None if that is not known before the list has been read.

    words: paths of files, globs such as "photos/**/*.jpg", folders (the photos in them, not in folders below), http and
        https addresses, and "-"
    listed: the lines of the list that "-" stands for; it is read while the photos are asked for, blank lines left out
    """
    if "-" in words:
        return _each(words, listed), None
    found = list(_each(words, ()))
    return found, len(found)


def _each(words: Iterable[str], listed: Iterable[bytes]) -> Iterator[Photo | Trouble]:
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


def _meant_by(word: str) -> Iterator[Photo | Trouble]:
    path = pathlib.Path(word)
    try:
        if not word:  # which would be the folder that we are in
            yield Trouble('""', "an empty path names no image")
        elif (why := why_no_image(word)) is not None and not path.is_dir():
            yield Trouble(word, why)
        elif word.lower().startswith(("http://", "https://")):
            yield Address(word)
        elif (scheme := _SCHEME.match(word)) is not None and not path.exists():
            yield Trouble(word, f"an address of {scheme[1]}; only http and https are fetched, and a path stands alone")
        elif path.is_dir():
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
