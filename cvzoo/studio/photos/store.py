"""Image files by the SHA-256 of their bytes: each is written once, and never changed."""

import hashlib
import os
import pathlib
import re
import secrets

from cvzoo.errors.exceptions import UnsafeFileError
from cvzoo.files.atomic_write import sync_folder
from cvzoo.studio.jobs.json_file import open_regular

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20
# what browsers decode, by the first bytes of the file
_SIGNATURES = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


class ImageStore:
    """The images below a folder. root: the folder"""

    def __init__(self, root: pathlib.Path):
        self.root = root

    def image(self, sha256: str) -> pathlib.Path:
        """The path of an image file. Raises UnsafeFileError for anything else than a SHA-256."""
        return self._path(sha256, "")

    def thumbnail(self, sha256: str) -> pathlib.Path:
        """The path of its thumbnail, a JPEG; an image that cannot be decoded has none."""
        return self._path(sha256, ".jpg")

    def view(self, sha256: str) -> pathlib.Path:
        """The path of a JPEG of its pixels, which exists for formats that browsers do not decode."""
        return self._path(sha256, ".view.jpg")

    def facts(self, sha256: str) -> pathlib.Path:
        """The path of its properties, JSON."""
        return self._path(sha256, ".json")

    def add(self, source: pathlib.Path) -> str:
        """Copies a file into the store, if it is not in it, and returns its SHA-256; nothing is decoded.

        Its bytes are on the disk before it has its name; `sync` makes names survive a power failure.
        Raises OSError, for links, FIFOs and devices too.
        """
        digest = hashlib.sha256()
        part = self.root / f".{secrets.token_hex(8)}.part"
        with open_regular(source) as file, open(part, "wb") as copy:
            while block := file.read(_CHUNK):
                digest.update(block)
                copy.write(block)
            copy.flush()
            os.fsync(copy.fileno())
        sha256 = digest.hexdigest()
        target = self.image(sha256)
        if target.is_file():
            part.unlink()
            return sha256
        target.parent.mkdir(mode=0o700, exist_ok=True)
        os.chmod(part, 0o444)
        os.rename(part, target)
        return sha256

    def _path(self, sha256: str, ending: str) -> pathlib.Path:
        require_sha256(sha256)
        return self.root / f"{sha256[:2]}/{sha256}{ending}"  # at once: parts of paths are a twentieth of an import

    def sync(self) -> None:
        """Returns when the names of all images are on the disk."""
        for folder in (self.root, *(each for each in self.root.iterdir() if each.is_dir())):
            sync_folder(folder)


def require_sha256(name: str) -> None:
    """Raises UnsafeFileError for anything else than a SHA-256."""
    if not is_sha256(name):
        raise UnsafeFileError(f"{name[:70]!r} is not a SHA-256")


def is_sha256(name: str) -> bool:
    """Whether a file of the store with this name is an image, not what belongs to one."""
    return _SHA256.fullmatch(name) is not None


def media_type_of(path: pathlib.Path) -> str | None:
    """The media type of a file that browsers may show as an image, by its first bytes; None for any other."""
    with open_regular(path) as file:
        start = file.read(12)
    for signature, media in _SIGNATURES:
        if start.startswith(signature):
            return media
    return "image/webp" if start[:4] == b"RIFF" and start[8:] == b"WEBP" else None
