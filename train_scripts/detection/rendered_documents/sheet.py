"""A sheet of paper: what is written where, in units, until it is printed at some size."""

import dataclasses

import numpy as np
from PIL import Image, ImageDraw

_COLUMNS = 4  # columns of ink a box of an outline
INK = 64  # coverage from which a pixel counts as written on


@dataclasses.dataclass(frozen=True, slots=True)
class Writing:
    """A run of text.

    x, y: its anchor, on the base line; align: the anchor is its left end (0), middle (0.5), right end (1)
    angle: None, or degrees against the clock: then the anchor is the middle of the ink
    """

    text: str
    face: object
    size: float
    x: float
    y: float
    align: float
    stretch: float
    color: tuple
    is_boxed: bool
    angle: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points ((x, y), ...)."""

    points: tuple
    width: float
    color: tuple


@dataclasses.dataclass(frozen=True, slots=True)
class Patch:
    """A picture of coverage (h, w) uint8, stretched over x, y, w, h; also a filled box, if it is all 255."""

    ink: np.ndarray
    x: float
    y: float
    w: float
    h: float
    color: tuple


class Sheet:
    """A sheet `width` units wide; it grows as long as it is written on.

    Later things lie over earlier ones. Colours are RGB of how much light comes back, 255 is paper.
    """

    def __init__(self, width, color=(40, 40, 40)):
        self.width = width
        self.height = 0.0
        self.color = color
        self.marks = []

    def write(self, text, face, size, x, y, *, align=0.0, stretch=1.0, color=None, is_boxed=True):
        """Put a text on the base line y."""
        if text.strip():
            color = self.color if color is None else color
            self.marks.append(Writing(text, face, size, x, y, align, stretch, color, is_boxed))
            self.height = max(self.height, y + 0.3 * size)

    def write_turned(self, text, face, size, x, y, *, angle, color=None):
        """Put a text around x, y, turned by degrees against the clock."""
        color = self.color if color is None else color
        self.marks.append(Writing(text, face, size, x, y, 0.5, 1.0, color, True, angle))

    @property
    def is_grey(self):
        """Whether no ink has a colour."""
        return all(mark.color[0] == mark.color[1] == mark.color[2] for mark in self.marks)

    def stroke(self, points, width, color=None):
        self.marks.append(Stroke(tuple(points), width, self.color if color is None else color))

    def patch(self, ink, x, y, w, h, color=None):
        self.marks.append(Patch(ink, x, y, w, h, self.color if color is None else color))

    def print_at(self, scale):
        """(canvas, outlines): the ink on white, and where it is.

        canvas: an image, RGB, or L if no ink has a colour; outlines: float32 (P, 2) arrays of (y, x), one per run

        An outline holds corners of boxes around the ink of each few columns of a run: whatever a smooth bend of the
        paper does, its extremes are those of the ink. Runs without ink have none.
        """
        size = max(round(self.width * scale), 1), max(round(self.height * scale), 1)
        is_grey = self.is_grey
        canvas = Image.new("L" if is_grey else "RGB", size, 255 if is_grey else (255, 255, 255))
        pen = ImageDraw.Draw(canvas)
        outlines = []
        for mark in self.marks:
            color = mark.color[0] if is_grey else mark.color
            if isinstance(mark, Writing):
                outline = _write(canvas, mark, scale, color)
                if outline is not None and mark.is_boxed:
                    outlines.append(outline)
            elif isinstance(mark, Stroke):
                points = [(x * scale, y * scale) for x, y in mark.points]
                pen.line(points, color, max(round(mark.width * scale), 1), joint="curve")
            else:
                w, h = max(round(mark.w * scale), 1), max(round(mark.h * scale), 1)
                ink = Image.fromarray(mark.ink).resize((w, h), Image.Resampling.BILINEAR)
                canvas.paste(color, (round(mark.x * scale), round(mark.y * scale)), ink)
        return canvas, outlines


def _write(canvas, mark, scale, color):
    ink, top, left = mark.face.draw(mark.text, mark.size * scale, mark.stretch)
    if mark.angle is not None:
        ink = np.asarray(Image.fromarray(ink).rotate(mark.angle, Image.Resampling.BILINEAR, expand=True))
        top = -ink.shape[0] // 2
    if mark.align == 0:
        x = round(mark.x * scale) + left
    else:
        x = round(mark.x * scale - mark.align * ink.shape[1])
    y = round(mark.y * scale) + top
    canvas.paste(color, (x, y), Image.fromarray(ink))
    return ink_outline(ink, y, x, canvas.height, canvas.width)


def ink_outline(ink, y, x, height, width):
    """The corners of boxes around each few inked columns: (P, 2) float32 (y, x); None without ink.

    Top left corners from left to right, then top right, bottom left, bottom right ones.

    ink: (h, w) uint8, its top left pixel at y, x of a canvas of that height and width; what is outside is cut
    """
    ink = ink[max(-y, 0) : max(height - y, 0), max(-x, 0) : max(width - x, 0)] >= INK
    columns = np.flatnonzero(ink.any(axis=0))
    if not len(columns):
        return None
    ink = ink[:, columns]
    starts = np.arange(0, len(columns), _COLUMNS)
    first = np.minimum.reduceat(ink.argmax(axis=0), starts) + max(y, 0)
    last = len(ink) - np.minimum.reduceat(ink[::-1].argmax(axis=0), starts) + max(y, 0)
    left = columns[starts] + max(x, 0)
    right = columns[np.append(starts[1:], len(columns)) - 1] + 1 + max(x, 0)
    points = np.stack([np.concatenate([first, first, last, last]), np.concatenate([left, right, left, right])], axis=1)
    return points.astype(np.float32)
