"""Reading of untrusted zip archives, with limits against decompression bombs."""

import os
import struct
import zipfile
import zlib

from cvzoo.errors.exceptions import FileError, FileFormatError, UnsafeFileError
from cvzoo.files.file_bytes import file_size

MAX_ENTRIES = 200_000
MAX_RATIO = 200  # deflate has a ratio of 1032 for zeros; trained weights hardly reach 2
SMALL = 64 << 20  # size below which any ratio is harmless
MAX_TOTAL = 1 << 30  # total size below which any ratio is harmless; above it, at most MAX_TOTAL_RATIO times the file
MAX_TOTAL_RATIO = 20
_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# errors of the standard module for damaged archives
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError)


class ZipArchive:
    """A zip file opened for reading; also a context manager.

    names: of the entries, in order
    Raises FileFormatError if the archive is damaged or the compression ratio of an entry is implausible.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = path
        size = file_size(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except _DAMAGE as error:
            raise FileFormatError(f"{path}: the archive is damaged or cut off: {error}") from error
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error}") from error
        try:
            self._check(size)
        except BaseException:
            self._zip.close()
            raise

    def _check(self, size: int) -> None:
        infos = self._zip.infolist()
        self.names = tuple(info.filename for info in infos)
        if len(infos) > MAX_ENTRIES or len(set(self.names)) != len(infos):
            raise FileFormatError(f"{self.path}: too many entries, or two of one name", got=len(infos))
        if sum(info.compress_size for info in infos) > size:
            raise UnsafeFileError(f"{self.path}: entries overlap or reach past the end of the file")
        total = sum(info.file_size for info in infos)
        if total > max(MAX_TOTAL, MAX_TOTAL_RATIO * size):
            raise UnsafeFileError(f"{self.path}: expands from {size} to {total} bytes")
        for info in infos:
            if info.compress_type not in _KINDS or info.flag_bits & 1:
                raise FileFormatError(f"{self.path}: {info.filename[:80]} is encrypted or packed in an unusual way")
            if info.compress_type == zipfile.ZIP_STORED and info.file_size != info.compress_size:
                raise FileFormatError(f"{self.path}: {info.filename[:80]} has two different sizes")
            if info.file_size > max(SMALL, MAX_RATIO * info.compress_size):
                raise UnsafeFileError(
                    f"{self.path}: {info.filename[:80]} expands from {info.compress_size} to {info.file_size} bytes",
                    expected=f"at most {MAX_RATIO} times its compressed size",
                )
        self._infos = {info.filename: info for info in infos}

    def size(self, name: str) -> int | None:
        """The uncompressed size of the entry in bytes; None if it does not exist."""
        info = self._infos.get(name)
        return None if info is None else info.file_size

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        """The entry's bytes, after its checksum was verified. Raises FileFormatError if damaged or above `limit`."""
        info = self._infos.get(name)
        if info is None:
            raise FileFormatError(f"{self.path}: entry {name[:80]!r} is missing")
        if limit is not None and info.file_size > limit:
            raise FileFormatError(f"{self.path}: {name[:80]} is too large", expected=limit, got=info.file_size)
        try:
            with self._zip.open(info) as entry:
                data = entry.read(info.file_size)
                if not data and info.file_size == 0:
                    entry.read(1)  # an empty entry, too, has a checksum
        except (*_DAMAGE, OSError) as error:
            raise FileFormatError(f"{self.path}: {name[:80]} is damaged: {error}") from error
        if len(data) != info.file_size:
            raise FileFormatError(f"{self.path}: {name[:80]} ends early", expected=info.file_size, got=len(data))
        return data

    def close(self) -> None:
        """Close the file; repeated calls have no effect."""
        self._zip.close()

    def __enter__(self) -> "ZipArchive":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
