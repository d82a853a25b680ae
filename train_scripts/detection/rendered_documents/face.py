"""Faces: what turns a text into ink."""

import abc
import functools
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from rendered_documents.matrix_glyphs import ABOVE_BASE, COLUMNS, ROWS, matrix_glyphs

_NO_CHARACTER = "\U000ffffe"  # in no font
_DOT = 8  # pixels of a dot in a matrix face's own drawing


class AbstractFace(abc.ABC):
    """Something to write with. Sizes are in pixels of an em, as fonts have them; capitals are about 0.7 em high.

    name, family: what it and its kin are called; licence: under which terms it may be used
    is_mono: all letters are of one width
    """

    name: str
    family: str
    licence: str
    is_mono: bool

    @abc.abstractmethod
    def width(self, text: str, size: float) -> float:
        """How wide the text is, about, in pixels."""

    @abc.abstractmethod
    def draw(self, text: str, size: float, stretch: float = 1.0) -> tuple[np.ndarray, int, int]:
        """(ink (h, w) uint8, top, left): the text's coverage, 255 is full, and where it goes from the pen, in pixels.

        stretch: how many times wider than drawn by the maker of the face
        """

    @abc.abstractmethod
    def holds(self, text: str) -> bool:
        """Whether there is a glyph for each character."""

    @abc.abstractmethod
    def fingerprint(self) -> bytes:
        """What its ink depends on."""


class OutlineFace(AbstractFace):
    """A font file of outlines, or Pillow's own font if path is None."""

    def __init__(self, path=None, *, licence="CC0", is_mono=False):
        self._path = path
        self._held = {" ": True}
        family, style = ("Aileron", None) if path is None else _font(path, 64.0).getname()
        self.family = family or "?"
        self.name = " ".join(filter(None, (family, style)))
        self.licence = licence
        self.is_mono = is_mono

    def width(self, text, size):
        return _font(self._path, 64.0).getlength(text) * size / 64

    def draw(self, text, size, stretch=1.0):
        font = _font(self._path, round(size * 2) / 2)
        left, top, right, bottom = font.getbbox(text, anchor="ls")
        left, top = int(np.floor(left)), int(np.floor(top))
        w, h = max(int(np.ceil(right)) - left, 1), max(int(np.ceil(bottom)) - top, 1)
        canvas = Image.new("L", (w, h))
        ImageDraw.Draw(canvas).text((-left, -top), text, fill=255, font=font, anchor="ls")
        if stretch != 1:
            canvas = canvas.resize((max(round(w * stretch), 1), h), Image.Resampling.BILINEAR)
            left = round(left * stretch)
        return np.asarray(canvas), top, left

    def holds(self, text):
        for char in set(text) - self._held.keys():
            self._held[char] = self._has_glyph(char)
        return all(self._held[char] for char in text)

    def _has_glyph(self, char):
        font = _font(self._path, 24.0)
        ink = font.getmask(char)
        blank = font.getmask(_NO_CHARACTER)
        return ink.getbbox() is not None and (ink.size != blank.size or bytes(ink) != bytes(blank))

    def fingerprint(self):
        if self._path is None:
            return b"Pillow's own"
        with open(self._path, "rb") as file:
            return file.read()


class MatrixFace(AbstractFace):
    """Letters of dots as printers of receipts put them; drawn from a table of this package.

    weight: 0.3 hairlines .. 0.7 bold; height: how many times higher than usual; is_dotted: dots stand apart
    """

    family = "matrix"
    is_mono = True
    licence = "MIT, this package's own"

    def __init__(self, *, weight=0.5, height=1.0, is_dotted=False):
        self.name = f"matrix {weight:g} {height:g}{' dotted' if is_dotted else ''}"
        self._height = height
        self._weight, self._is_dotted = weight, is_dotted

    def width(self, text, size):
        return 0.6 * size * len(text)

    def draw(self, text, size, stretch=1.0):
        glyphs = _matrix_drawings(self._weight, self._is_dotted)
        strip = np.concatenate([glyphs.get(char, glyphs[" "]) for char in text], axis=1)
        dot = size * self._height / 10
        h, w = max(round(ROWS * dot), 1), max(round(self.width(text, size) * stretch), 1)
        # a margin of half a dot lies around the grid of dots
        ink = Image.fromarray(strip).resize((w, h), Image.Resampling.BOX if dot < _DOT else Image.Resampling.BILINEAR)
        return np.asarray(ink), -round(ABOVE_BASE * dot), 0

    def holds(self, text):
        glyphs = _matrix_drawings(self._weight, self._is_dotted)
        return all(char in glyphs for char in text)

    def fingerprint(self):
        return self.name.encode()


@functools.lru_cache(maxsize=512)
def _font(path: str | None, size: float) -> Any:
    if path is None:
        return ImageFont.load_default(size)
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


@functools.lru_cache(maxsize=32)
def _matrix_drawings(weight, is_dotted):
    drawings = {" ": np.zeros((ROWS * _DOT, (COLUMNS + 1) * _DOT), np.uint8)}
    y, x = np.mgrid[: ROWS * _DOT, : (COLUMNS + 1) * _DOT] / _DOT - 0.5
    for char, dots in matrix_glyphs().items():
        points = [(r, c + 0.5) for r, row in enumerate(dots) for c, dot in enumerate(row) if dot]
        strokes = [(p, q) for p in points for q in points if p <= q and max(abs(p[0] - q[0]), abs(p[1] - q[1])) <= 1]
        # no diagonal where two straight steps lead the same way: corners stay corners
        strokes = [(p, q) for p, q in strokes if p[0] == q[0] or p[1] == q[1] or not _is_corner(p, q, points)]
        distance = np.full(y.shape, 9.0)
        for p, q in [(p, p) for p in points] if is_dotted else strokes:
            distance = np.minimum(distance, _distance(y, x, p, q))
        drawings[char] = (np.clip((weight - distance) * _DOT + 0.5, 0, 1) * 255).astype(np.uint8)
    return drawings


def _is_corner(p, q, points):
    return (p[0], q[1]) in points or (q[0], p[1]) in points


def _distance(y, x, p, q):
    dy, dx = q[0] - p[0], q[1] - p[1]
    t = np.clip(((y - p[0]) * dy + (x - p[1]) * dx) / max(dy * dy + dx * dx, 1e-9), 0, 1)
    return np.hypot(y - p[0] - t * dy, x - p[1] - t * dx)
