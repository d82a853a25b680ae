"""Where a data set's photos may lie: below its own folders, unless somebody asked for more.

What a stranger's file names is opened, shown in reports and copied by `data convert`; a name or a link that leads out
of the data set would make that a photo of the user's own.
"""

import os
import pathlib
from collections.abc import Iterable

from cvzoo.errors.exceptions import DatasetError


def leads_out(name: str) -> bool:
    """Whether a photo's name in a file is absolute, or climbs with "..", in the spelling of any system."""
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or pathlib.PurePosixPath(name).is_absolute() or bool(pathlib.PureWindowsPath(name).anchor)


def real_folder(folder: str | os.PathLike, *, named: bool) -> str:
    """The real path, with "/" behind, that a folder's files lie below if no link leads out of it.

    named: a user named this very folder, so it may be a link itself; otherwise only what is above it may
    """
    path = pathlib.Path(folder).absolute()
    real = os.path.realpath(path) if named else os.path.join(os.path.realpath(path.parent), path.name)
    return os.path.join(real, "")


def lies_below(path: str | os.PathLike, folders: Iterable[str]) -> bool:
    """Whether the file itself, with all links followed, lies below one of the folders, as `real_folder` gives them."""
    return os.path.realpath(path).startswith(tuple(folders))


def check_photo_place(path: pathlib.Path, folders: Iterable[str], *, allow_outside: bool) -> None:
    """Nothing, or DatasetError for a photo that is no plain file, or that lies outside of the data set's folders.

    folders: as `real_folder` gives them
    A photo that is not there passes: whoever opens it says so.
    """
    if "\0" in str(path):
        raise DatasetError(f"{str(path)!r}: a photo's name holds a zero byte")
    try:
        is_odd = path.exists() and not path.is_file()
    except OSError as error:  # such as a name that is too long for any file
        raise DatasetError(f"{str(path)[:200]}: no photo can have this name: {error.strerror}") from error
    if is_odd:
        raise DatasetError(f"{path}: a folder, a FIFO or a device, not a photo")
    folders = tuple(folders)
    if not allow_outside and not lies_below(path, folders):
        raise DatasetError(
            f"{path}: the photo lies outside of the data set's folder",
            expected="a file below " + " or ".join(folders),
            got=os.path.realpath(path),
            hint="allow_outside=True (--allow-outside, or ,outside=1 behind the SPEC) if you trust the annotations",
        )
