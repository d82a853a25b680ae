"""Unpacks tar and zip archives safely: never outside of the target folder."""

import contextlib
import errno
import os
import pathlib
import re
import shutil
import stat
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from typing import IO

from cvzoo.errors.exceptions import FileFormatError, UnsafeFileError
from cvzoo.typing.aliases import FilePath

MAX_FILES = 5_000_000  # ImageNet has 1.4 million
MAX_BYTES = 1 << 40  # 1 TiB; ImageNet has 0.15
MAX_RATIO = 300  # compression ratio: images hardly shrink, label maps do, a decompression bomb does much more
SMALL = 256 << 20  # bytes in total for which the ratio is not limited
_CHUNK = 1 << 20  # bytes that are written at a time
_FORBIDDEN = re.compile(r"[\x00-\x1f\\:]")
_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def extract(path: FilePath, folder: FilePath, *, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES) -> None:
    """Unpacks an archive (.tar, .tar.gz, .tgz, .zip ...) into the folder: all of it, or nothing.

    Existing files are replaced. Only plain files and folders are accepted: a link or device, a name that leads out of
    the folder, or a duplicate name is an error, before anything is moved into the folder.
    Raises UnsafeFileError, FileFormatError if the archive is damaged, or OSError.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    limit = _Limit(path, max_files, max_bytes)
    # in the target folder, so that files can be moved by a rename
    with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder, ignore_cleanup_errors=True) as temporary:
        try:
            if zipfile.is_zipfile(path):
                _unzip(path, pathlib.Path(temporary), limit)
            elif tarfile.is_tarfile(path):
                _untar(path, pathlib.Path(temporary), limit)
            else:
                raise FileFormatError(f"{path}: neither a tar nor a zip archive")
        except (FileFormatError, FileNotFoundError, PermissionError):
            raise
        except _DAMAGE as error:
            raise FileFormatError(f"{path}: the archive is damaged or truncated: {error}") from error
        except OSError as error:
            # errors of gzip and bz2 have no errno; the other two are of invalid offsets and names
            if error.errno in (None, errno.EINVAL, errno.ENAMETOOLONG):
                raise FileFormatError(f"{path}: the archive is damaged or truncated: {error}") from error
            raise
        _merge(temporary, folder)


class _Limit:
    """Limits the numbers of files and bytes, and validates names."""

    def __init__(self, path: FilePath, max_files: int, max_bytes: int) -> None:
        self.path = path
        self._max_files = max_files
        self._max_bytes = max(min(max_bytes, MAX_RATIO * os.path.getsize(path)), min(SMALL, max_bytes))
        self._n_file = self._n_byte = 0
        self._names: set[str] = set()
        self._folders: set[str] = set()

    def name(self, name: str, *, is_folder: bool) -> str:
        """The normalized name; "" for the archive's root. Raises UnsafeFileError."""
        plain = unicodedata.normalize("NFC", name)
        while plain.startswith("./"):
            plain = plain[2:]
        plain = plain.rstrip("/")
        parts = plain.split("/")
        if plain in ("", "."):
            return ""
        if plain.startswith("/") or _FORBIDDEN.search(plain) or ".." in parts or "" in parts:
            raise UnsafeFileError(f"{self.path}: the name of an entry leads out of the folder", got=repr(name)[:120])
        inner = parts if is_folder else parts[:-1]
        folders = {"/".join(inner[: i + 1]) for i in range(len(inner))} - self._folders if len(inner) < 1000 else set()
        self._folders |= folders
        if not folders.isdisjoint(self._names) or (not is_folder and plain in self._folders):
            raise UnsafeFileError(f"{self.path}: a file and a folder have the same name", got=repr(name)[:120])
        if not is_folder:
            self._n_file += 1
            if self._n_file > self._max_files:
                raise UnsafeFileError(f"{self.path} contains too many files", expected=f"at most {self._max_files}")
            if plain in self._names:
                raise UnsafeFileError(f"{self.path}: two entries have the same name", got=repr(name)[:120])
            self._names.add(plain)
        return plain

    def count(self, n_byte: int) -> None:
        self._n_byte += n_byte
        if self._n_byte > self._max_bytes:
            raise UnsafeFileError(
                f"{self.path}: the unpacked files are too large", expected=f"at most {self._max_bytes} bytes"
            )

    def copy(self, source: IO[bytes], target: pathlib.Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "xb") as file:
            while block := source.read(_CHUNK):
                self.count(len(block))
                file.write(block)


def _untar(path: FilePath, folder: pathlib.Path, limit: _Limit) -> None:
    with tarfile.open(path) as archive:
        for entry in archive:
            if not (entry.isreg() or entry.isdir()):
                raise UnsafeFileError(f"{path}: an entry is neither file nor folder", got=repr(entry.name)[:120])
            name = limit.name(entry.name, is_folder=entry.isdir())
            if entry.isdir():
                (folder / name).mkdir(parents=True, exist_ok=True)
                continue
            source = archive.extractfile(entry)
            if source is None:  # never for a regular file
                raise FileFormatError(f"{path}: {name} cannot be read")
            with source:
                limit.copy(source, folder / name)
            if (folder / name).stat().st_size != entry.size:
                raise FileFormatError(f"{path}: {name} is truncated", expected=entry.size)


def _unzip(path: FilePath, folder: pathlib.Path, limit: _Limit) -> None:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise UnsafeFileError(f"{path}: an entry is neither file nor folder", got=repr(entry.filename)[:120])
            is_folder = entry.filename.endswith("/")  # ZipInfo.is_dir() fails for an empty name
            name = limit.name(entry.filename, is_folder=is_folder)
            if is_folder:
                (folder / name).mkdir(parents=True, exist_ok=True)
                continue
            with archive.open(entry) as source:
                limit.copy(source, folder / name)


def _merge(source: FilePath, target: FilePath) -> None:
    """Moves all files and folders from source to target, without following links."""
    with os.scandir(source) as scan:
        entries = list(scan)
    for entry in entries:
        path = os.path.join(target, entry.name)
        if os.path.islink(path):
            raise UnsafeFileError(f"{path} is a link, through which nothing is unpacked")
        if entry.is_dir(follow_symlinks=False):
            if not os.path.isdir(path):
                os.rename(entry.path, path)
            else:
                _merge(entry.path, path)
        else:
            if os.path.isdir(path):
                with contextlib.suppress(FileNotFoundError):
                    shutil.rmtree(path)
            os.replace(entry.path, path)
