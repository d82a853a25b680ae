"""A folder that is there whole or not at all, and names that are safe in it."""

import contextlib
import os
import pathlib
import re
import secrets
import shutil
import unicodedata
from collections.abc import Iterator, Sequence

from cvzoo.errors.exceptions import ConfigError


@contextlib.contextmanager
def new_folder(path: str | os.PathLike) -> Iterator[pathlib.Path]:
    """A folder to write to; at the end of the block it takes the path's place in one step, and only then.

    When the block raises, Ctrl-C included, nothing is left.
    Raises ConfigError if something is there already that is not an empty folder.
    """
    path = pathlib.Path(path).absolute()
    check_new(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    temporary.mkdir()
    try:
        yield temporary
        if path.is_dir():
            path.rmdir()
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def check_new(path: str | os.PathLike) -> None:
    """Nothing, or ConfigError if something is there already that is not an empty folder, or nothing can be made there.

    To be asked before long work, not after it.
    """
    path = pathlib.Path(path).absolute()
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise ConfigError(f"{path} is there already", hint="a new folder")
    above = next(each for each in path.parents if each.exists())
    if not above.is_dir():
        raise ConfigError(f"{path}: {above} is a file, not a folder", hint="a new folder")
    if not os.access(above, os.W_OK | os.X_OK):
        raise ConfigError(f"{path}: nothing may be written to {above}", hint="another folder")


def plain_names(names: Sequence[str], *, flat: bool) -> dict[str, str]:
    """For each photo's name one that every system takes and that no other has, whatever the case; most stay.

    flat: no folders: "/" becomes "_"; and no two names share what stands before their ending
    """
    taken: set[str] = set()
    plain = {}
    # names that need no change keep theirs, whoever comes first
    for name in sorted(names, key=lambda name: _plain(name, flat) != name):
        candidate = _plain(name, flat)
        stem, dot, ending = candidate.rpartition(".")
        stem = stem if dot else candidate
        number, new = 1, stem
        while new.casefold() in taken:
            number += 1
            new = f"{stem}_{number}"
        taken.add(new.casefold())
        plain[name] = f"{new}{dot}{ending}" if dot else new
    return plain


def _plain(name, flat):
    parts = [part for part in re.split(r"[/\\]+", name) if part not in ("", ".", "..")]
    text = ("_" if flat else "/").join(part.strip() for part in parts)
    text = unicodedata.normalize("NFC", text)
    return "".join(letter if letter.isprintable() and letter != "\ufffd" else "_" for letter in text) or "photo"
