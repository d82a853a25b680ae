"""Unpacking tar and zip archives into a folder, and nowhere else."""

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

from cvzoo.errors.exceptions import FileFormatError, UnsafeFileError

MAX_FILES = 5_000_000  # ImageNet has 1.4 million
MAX_BYTES = 1 << 40
MAX_RATIO = 300  # an archive of photos hardly shrinks; label maps do, a bomb does much more
SMALL = 256 << 20  # below this size in all a ratio does no harm
_CHUNK = 1 << 20
_FORBIDDEN = re.compile(r"[\x00-\x1f\\:]")
_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def extract(path, folder, *, max_files=MAX_FILES, max_bytes=MAX_BYTES):
    """Unpack an archive (.tar, .tar.gz, .tgz, .zip ...) into the folder: all of it, or nothing.

    Files that are there already are replaced. Plain files and folders only: an entry that is a link or a device, whose
    name leaves the folder, or that comes twice is an error, before anything is moved into the folder.
    Raises UnsafeFileError, FileFormatError if the archive is damaged, or OSError.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    limit = _Limit(path, max_files, max_bytes)
    # beside its place, so that moving it is a rename
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
            raise FileFormatError(f"{path}: the archive is damaged or cut off: {error}") from error
        except OSError as error:
            if error.errno in (
                None,
                errno.EINVAL,
                errno.ENAMETOOLONG,
            ):  # gzip's and bz2's own complaints; odd places, names
                raise FileFormatError(f"{path}: the archive is damaged or cut off: {error}") from error
            raise
        _merge(temporary, folder)


class _Limit:
    """Counts files and bytes, and refuses names that lead astray."""

    def __init__(self, path, max_files, max_bytes):
        self.path = path
        self._max_files = max_files
        self._max_bytes = max(min(max_bytes, MAX_RATIO * os.path.getsize(path)), min(SMALL, max_bytes))
        self._n_file = self._n_byte = 0
        self._seen = set()

    def name(self, name, *, is_folder):
        """The name, cleaned; "" for the archive's own root. Raises UnsafeFileError."""
        plain = unicodedata.normalize("NFC", name)
        while plain.startswith("./"):
            plain = plain[2:]
        plain = plain.rstrip("/")
        parts = plain.split("/")
        if plain in ("", "."):
            return ""
        if plain.startswith("/") or _FORBIDDEN.search(plain) or ".." in parts or "" in parts:
            raise UnsafeFileError(f"{self.path}: an entry's name may lead out of the folder", got=repr(name)[:120])
        if not is_folder:
            self._n_file += 1
            if self._n_file > self._max_files:
                raise UnsafeFileError(f"{self.path}: too many files", expected=f"at most {self._max_files}")
            if plain in self._seen:
                raise UnsafeFileError(f"{self.path}: two entries of one name", got=repr(name)[:120])
            self._seen.add(plain)
        return plain

    def count(self, n_byte):
        self._n_byte += n_byte
        if self._n_byte > self._max_bytes:
            raise UnsafeFileError(
                f"{self.path}: unfolds to more than makes sense", expected=f"at most {self._max_bytes} bytes"
            )

    def copy(self, source, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "xb") as file:
            while block := source.read(_CHUNK):
                self.count(len(block))
                file.write(block)


def _untar(path, folder, limit):
    with tarfile.open(path) as archive:
        for entry in archive:
            if not (entry.isreg() or entry.isdir()):
                raise UnsafeFileError(f"{path}: an entry is neither file nor folder", got=repr(entry.name)[:120])
            name = limit.name(entry.name, is_folder=entry.isdir())
            if entry.isdir():
                (folder / name).mkdir(parents=True, exist_ok=True)
                continue
            with archive.extractfile(entry) as source:
                limit.copy(source, folder / name)
            if (folder / name).stat().st_size != entry.size:
                raise FileFormatError(f"{path}: {name} ends early", expected=entry.size)


def _unzip(path, folder, limit):
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise UnsafeFileError(f"{path}: an entry is neither file nor folder", got=repr(entry.filename)[:120])
            is_folder = entry.filename.endswith("/")  # ZipInfo.is_dir() cannot bear an empty name
            name = limit.name(entry.filename, is_folder=is_folder)
            if is_folder:
                (folder / name).mkdir(parents=True, exist_ok=True)
                continue
            with archive.open(entry) as source:
                limit.copy(source, folder / name)


def _merge(source, target):
    """Move everything below source to the same place below target; no link on the way is followed."""
    with os.scandir(source) as found:
        entries = list(found)
    for entry in entries:
        place = os.path.join(target, entry.name)
        if os.path.islink(place):
            raise UnsafeFileError(f"{place} is a link; nothing is unpacked through it")
        if entry.is_dir(follow_symlinks=False):
            if not os.path.isdir(place):
                os.rename(entry.path, place)
            else:
                _merge(entry.path, place)
        else:
            if os.path.isdir(place):
                with contextlib.suppress(FileNotFoundError):
                    shutil.rmtree(place)
            os.replace(entry.path, place)
