"""Restricts the images of a data set to its own folders, unless the user allows others.

Images that an annotation file names are opened, shown in reports and copied by `data convert`; in untrusted data, a
path or a link that leads out of the data set could expose any image of the user.
"""

import os
import pathlib
from collections.abc import Iterable

from cvzoo.errors.exceptions import DatasetError
from cvzoo.typing.aliases import FilePath


def leads_out(name: str) -> bool:
    """Whether the path of an image in a file is absolute or contains "..", in the syntax of any operating system."""
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or pathlib.PurePosixPath(name).is_absolute() or bool(pathlib.PureWindowsPath(name).anchor)


def real_folder(folder: FilePath, *, named: bool) -> str:
    """The resolved path of a folder, with "/" at the end, which its files begin with unless they are links out of it.

    named: the user passed this folder, so it may be a link itself; otherwise only its parents may
    """
    path = pathlib.Path(folder).absolute()
    real = os.path.realpath(path) if named else os.path.join(os.path.realpath(path.parent), path.name)
    return os.path.join(real, "")


def is_below(path: FilePath, folders: Iterable[str]) -> bool:
    """Whether the resolved path is in one of the folders, as returned by `real_folder`."""
    return os.path.realpath(path).startswith(tuple(folders))


def check_image_location(path: pathlib.Path, folders: Iterable[str], *, allow_outside: bool) -> None:
    """Raises DatasetError if an image is not a regular file, or is outside of the data set's folders.

    folders: as returned by `real_folder`
    A missing image is accepted; opening it will raise.
    """
    if "\0" in str(path):
        raise DatasetError(f"{str(path)!r}: the path of the image contains a null byte")
    try:
        is_irregular = path.exists() and not path.is_file()
    except OSError as error:  # such as a name that is too long for any file
        raise DatasetError(f"{str(path)[:200]}: the path of the image is invalid: {error.strerror}") from error
    if is_irregular:
        raise DatasetError(f"{path} is a folder, a FIFO or a device, not an image")
    folders = tuple(folders)
    if not allow_outside and not is_below(path, folders):
        raise DatasetError(
            f"{path}: the image is outside of the data set's folder",
            expected="a file below " + " or ".join(folders),
            got=os.path.realpath(path),
            hint="allow_outside=True (--allow-outside, or ,outside=1 after the SPEC) if you trust the annotations",
        )
