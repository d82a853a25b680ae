"""What the files of a photo's results are called, so that no photo's results replace another's."""

import pathlib
import unicodedata

_WRITTEN = {".jpg", ".jpeg", ".png", ".webp", ".bmp"}
_LONGEST = 200  # bytes of a name; file systems take 255, and a temporary name is longer than the name itself


class PictureNames:
    """Gives every photo a name of its own: dog, dog_2 for the next dog from another folder, and so on."""

    def __init__(self):
        self._taken = set()
        self._next = {}

    def of(self, path: pathlib.PurePath) -> tuple[str, str]:
        """(name, ending) of the photo's picture: the photo's own ending where such files can be written, else .jpg."""
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


def _key(name: str) -> str:
    # some file systems know neither case nor how an accent is composed
    return unicodedata.normalize("NFC", name).casefold()
