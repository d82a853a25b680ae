"""Fonts of documents: those of the machine, and those inside Pillow and this package."""

import functools
import os
import pathlib
import sys
from typing import TypeAlias

from PIL import ImageFont

from rendered_documents.face import AbstractFace, MatrixFace, OutlineFace
from rendered_documents.words import pick

Families: TypeAlias = tuple[tuple[AbstractFace, ...], ...]

_ENDINGS = (".ttf", ".otf")
_NEEDED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,:-/()#*%&"
_NO_TEXT = ("symbol", "emoji", "icon", "math", "dingbat", "awesome", "music", "braille", "barcode", "variable", "tex")
_HANDS = ("amatic", "intuitive", "hand", "script", "comic", "brush")
_LICENCES = {
    "Amatic SC": "OFL 1.1",
    "Caladea": "Apache 2.0",
    "DejaVu": "Bitstream Vera and public domain",
    "Hanken Grotesk": "OFL 1.1",
    "Intuitive": "OFL 1.1",
    "Liberation": "OFL 1.1",
    "Manrope": "OFL 1.1",
    "Noto": "OFL 1.1",
    "Roboto": "Apache 2.0",
    "Source": "OFL 1.1",
}


class Fonts:
    """Faces by what they are for: matrix, mono, plain and hand are tuples of families, each a tuple of faces.

    A random family is chosen first, then a face of it, so that a family with twenty weights is not overrepresented.
    """

    def __init__(self, outlines):
        self.matrix: Families = (
            (MatrixFace(), MatrixFace(weight=0.4), MatrixFace(weight=0.6)),
            (MatrixFace(weight=0.45, is_dotted=True), MatrixFace(weight=0.55, is_dotted=True)),
            (MatrixFace(height=1.3), MatrixFace(weight=0.42, height=1.3)),
        )
        families: dict[tuple[str, str], list[OutlineFace]] = {}
        for face in outlines:
            is_hand = any(word in face.name.lower() for word in _HANDS)
            use = "mono" if face.is_mono else "hand" if is_hand else "plain"
            families.setdefault((use, face.family), []).append(face)
        self.mono, self.plain, self.hand = (
            tuple(tuple(faces) for (name, _), faces in sorted(families.items()) if name == use)
            for use in ("mono", "plain", "hand")
        )

    def faces(self):
        """All of them."""
        groups = (self.matrix, self.mono, self.plain, self.hand)
        return tuple(face for families in groups for family in families for face in family)

    def by_lot(self, rng, matrix=0.0, mono=0.0, hand=0.0):
        """A random face of these groups with these probabilities, otherwise (or if a group is empty) a plain one."""
        at = rng.random()
        if at < matrix:
            families = self.matrix
        elif at < matrix + mono:
            families = self.mono or self.matrix
        elif at < matrix + mono + hand:
            families = self.hand or self.plain
        else:
            families = self.plain
        return pick(rng, pick(rng, families))


def fonts_of(paths):
    """Fonts of these files and the one inside Pillow. Raises OSError for a file that is no font."""
    return Fonts((OutlineFace(), *(_face(os.fspath(path)) for path in paths)))


@functools.lru_cache(maxsize=1)
def installed_fonts():
    """Fonts for text on this machine, those in Python packages included, one of each name, in the order of names."""
    faces = {}
    for path in sorted(path for folder in _folders() for path in folder.rglob("*")):
        if path.suffix.lower() in _ENDINGS and not any(word in path.name.lower() for word in _NO_TEXT):
            try:
                face = _face(os.fspath(path))
            except (OSError, ValueError):
                continue
            if face.name not in faces and face.holds(_NEEDED):
                faces[face.name] = face
    return Fonts((OutlineFace(), *(faces[name] for name in sorted(faces))))


def _folders():
    home = pathlib.Path.home()
    folders = [
        pathlib.Path("/usr/share/fonts"),
        pathlib.Path("/usr/local/share/fonts"),
        home / ".fonts",
        home / ".local/share/fonts",
        pathlib.Path("/System/Library/Fonts/Supplemental"),
        pathlib.Path("/Library/Fonts"),
        pathlib.Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts",
    ]
    for place in sys.path:
        if pathlib.Path(place).name in ("site-packages", "dist-packages"):
            folders += sorted(pathlib.Path(place).glob("font_*/files"))
            folders.append(pathlib.Path(place) / "matplotlib/mpl-data/fonts/ttf")
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def _face(path):
    font = ImageFont.truetype(path, 32, layout_engine=ImageFont.Layout.BASIC)
    family = font.getname()[0] or pathlib.Path(path).stem
    licence = next((terms for start, terms in _LICENCES.items() if family.startswith(start)), "see its maker")
    return OutlineFace(path, licence=licence, is_mono=font.getlength("i") == font.getlength("W"))
