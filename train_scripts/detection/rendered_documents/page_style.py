"""How a sheet of an office is set: its face, sizes and margins, and its script."""

import bisect

from rendered_documents import words
from rendered_documents.scripts import SCRIPTS
from rendered_documents.sheet import Sheet
from rendered_documents.words import pick

WIDTH = 600.0


class PageStyle:
    """A sheet 600 units wide and how to write on it.

    face, bold: for text and for titles; size: an em; leading: from row to row; margin; script: that of its words
    """

    def __init__(self, rng, fonts, *, least=8.5, most=15.0):
        self.face = fonts.by_lot(rng, matrix=0.06, mono=0.12)
        self.bold = self.face if rng.random() < 0.5 else fonts.by_lot(rng, hand=0.1)
        shade = int(rng.choice([0, 20, 40, 60, 90, 120]))
        self.sheet = Sheet(WIDTH, (shade, shade, shade))
        self.accent = self.sheet.color
        if rng.random() < 0.35:
            self.accent = tuple(int(c) for c in rng.integers(10, 150, 3))
        self.size = rng.uniform(least, most)
        self.leading = self.size * rng.uniform(1.15, 1.9)
        self.margin = rng.uniform(20, 70)
        self.right = WIDTH - self.margin
        scripts = [script for script in SCRIPTS if self.face.holds(SCRIPTS[script].sample)]
        self.script = "latin" if rng.random() < 0.6 or not scripts else pick(rng, scripts)

    def width(self, text, big=1.0, face=None):
        return (face or self.face).width(text, self.size * big)

    def put(self, text, x, y, *, align=0.0, big=1.0, face=None, room=None, color=None):
        """Write a text, as many of its words as there is room for; how wide it is, 0 if nothing fits."""
        face = face or self.face
        text = text.strip()
        if not face.holds(text):
            text = "".join(char for char in text if face.holds(char)).strip()
        room = WIDTH if room is None else room
        if self.width(text, big, face) > room:
            parts = text.split(" ")
            ends = range(1, len(parts))
            text = " ".join(
                parts[: bisect.bisect_right(ends, room, key=lambda n: self.width(" ".join(parts[:n]), big, face))]
            )
        if not text:
            return 0.0
        self.sheet.write(text, face, self.size * big, x, y, align=align, color=color)
        return self.width(text, big, face)

    def rule(self, y, left=None, right=None, width=1.0, color=None):
        left, right = self.margin if left is None else left, self.right if right is None else right
        self.sheet.stroke([(left, y), (right, y)], width, color)

    def title(self, rng, y, text=None):
        """A heading below y; where its base line is."""
        big = rng.uniform(1.3, 3.0)
        align = pick(rng, [0.0, 0.0, 0.5, 1.0])
        y += big * self.size * 1.1
        x = self.margin + align * (self.right - self.margin)
        text = words.company(rng) if text is None else text
        text = text if rng.random() < 0.5 else text.title()
        self.put(text, x, y, align=align, big=big, face=self.bold, room=self.right - self.margin, color=self.accent)
        return y
