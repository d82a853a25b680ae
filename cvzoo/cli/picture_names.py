"""Unique file names for the results of images."""

import pathlib
import unicodedata

_WRITTEN = {".jpg", ".jpeg", ".png", ".webp", ".bmp"}
_LONGEST = 200  # bytes of a name; file systems allow 255, and temporary names are longer than the name itself


class PictureNames:
    """Assigns unique names to images: dog, dog_2 for the next dog from another folder, and so on."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def of(self, path: pathlib.PurePath) -> tuple[str, str]:
        """(name, extension) of the image with predictions: the original extension if it is writable, otherwise .jpg."""
        ending = path.suffix if path.suffix.lower() in _WRITTEN else ".jpg"
        stem = path.stem or "photo"
        while len(stem.encode(errors="surrogateescape")) > _LONGEST:
            stem = stem[:-1]
        name, number = stem, self._next.get(_key(stem), 1)
        while _key(name) in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._next[_key(stem)] = number
        self._taken.add(_key(name))
        return name, ending


def plain_name(text: str) -> str:
    """The text, such as the name of a class, as a file name: without separators of paths, and not hidden."""
    plain = "".join(each if each.isprintable() and each not in '/\\:*?"<>|' else "_" for each in text).strip(" .")
    return plain or "_"


def _key(name: str) -> str:
    # some file systems ignore case and the normalization of accents
    return unicodedata.normalize("NFC", name).casefold()
