"""Creates a folder atomically, and makes file names that are valid on every system."""

import contextlib
import os
import pathlib
import re
import secrets
import shutil
import unicodedata
from collections.abc import Iterator, Sequence

from cvzoo.errors.exceptions import ConfigError
from cvzoo.typing.aliases import FilePath

# what may change in an ASCII name
_TO_CHANGE = re.compile(r"[/\\]|^\s|\s$|^\.{0,2}$")


@contextlib.contextmanager
def new_folder(path: FilePath) -> Iterator[pathlib.Path]:
    """A temporary folder to write to, which is renamed to the path at the end of the block.

    If the block raises, Ctrl-C included, it is deleted.
    Raises ConfigError if the path exists and is not an empty folder.
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


def check_new(path: FilePath) -> None:
    """Raises ConfigError if the path exists and is not an empty folder, or cannot be created.

    For a check before long work.
    """
    path = pathlib.Path(path).absolute()
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise ConfigError(f"{path} already exists", hint="a new folder")
    above = next(each for each in path.parents if each.exists())
    if not above.is_dir():
        raise ConfigError(f"{path}: {above} is a file, not a folder", hint="a new folder")
    if not os.access(above, os.W_OK | os.X_OK):
        raise ConfigError(f"{path} cannot be created, since {above} is not writable", hint="another folder")


def plain_names(names: Sequence[str], *, flat: bool) -> dict[str, str]:
    """A file name for each image that is valid on every system and unique, ignoring case; most names do not change.

    flat: no subfolders: "/" becomes "_"; and names are unique without their extensions
    """
    taken: set[str] = set()
    plain = {}
    wanted = [(_plain(name, flat), name) for name in names]
    # names that need no change are kept, in whatever order they come
    for candidate, name in sorted(wanted, key=lambda both: both[0] != both[1]):
        stem, dot, ending = candidate.rpartition(".")
        stem = stem if dot else candidate
        number, new = 1, stem
        while new.casefold() in taken:
            number += 1
            new = f"{stem}_{number}"
        taken.add(new.casefold())
        plain[name] = f"{new}{dot}{ending}" if dot else new
    return plain


def _plain(name: str, flat: bool) -> str:
    if name.isascii() and name.isprintable() and not _TO_CHANGE.search(name):
        return name
    parts = [part for part in re.split(r"[/\\]+", name) if part not in ("", ".", "..")]
    text = ("_" if flat else "/").join(part.strip() for part in parts)
    text = unicodedata.normalize("NFC", text)
    return "".join(letter if letter.isprintable() and letter != "\ufffd" else "_" for letter in text) or "photo"
