"""Plausibility checks of downloaded files without a published hash."""

import os
import pathlib

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.weights.formats.darknet import DarknetWeightsFile
from cvzoo.weights.sniff import DARKNET, KINDS, read_arrays, sniff

_PAGES = (b"<!doctype", b"<html", b"<?xml", b"<head")


def refuse_page(path: str | os.PathLike) -> None:
    """Raises FileFormatError if the file is a web page, such as a login page."""
    with open(path, "rb") as file:
        head = file.read(256)
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_PAGES):
        raise FileFormatError("the download is a web page", expected="a file", got=_shown(head))


def check_weights(path: str | os.PathLike, *, name: str, read_all: bool) -> None:
    """Raises FileFormatError if the file is not of the kind that the extension of its published name indicates.

    read_all: read the whole file, which has to contain arrays; raises what its reader raises
    """
    refuse_page(path)
    wanted = KINDS.get(pathlib.PurePath(name).suffix.lower())
    if wanted is None:
        return
    kind = sniff(path, name=name)
    if kind != wanted:
        with open(path, "rb") as file:
            head = file.read(64)
        raise FileFormatError(f"{name}: the file is of kind {kind or 'unknown'}, not {wanted}", got=_shown(head))
    if wanted == DARKNET:
        DarknetWeightsFile(path).close()
    elif read_all:
        read_arrays(path, name=name)


def _shown(head: bytes) -> str:
    return f"bytes that begin with {head[:60]!r}"
