"""A column of text, filled row by row."""

from rendered_documents.sheet import Sheet
from rendered_documents.words import pick

_RULES = ["-", "-", "-", "-", "=", "=", "*", "_", ".", "- ", "~"]
GAP = 0.75  # minimum ems between two runs of a row; closer ones would read as one run


class Column:
    """The position of a receipt's next row. Lengths are in units of its sheet.

    left, right: the text's margins; size: an em; leading: from row to row; is_shouting: labels are in capitals
    """

    def __init__(self, sheet, face, *, left, right, size, leading, stretch, is_shouting, rule):
        self.sheet = sheet
        self.face = face
        self.left, self.right = left, right
        self.size, self.leading, self.stretch = size, leading, stretch
        self.is_shouting = is_shouting
        self._rule = rule
        self.y = 0.0

    @classmethod
    def by_lot(cls, rng, fonts):
        """A column on a new sheet 600 units wide."""
        face = fonts.by_lot(rng, matrix=0.45, mono=0.25)
        sheet = Sheet(600.0, _ink(rng))
        margin = rng.uniform(8, 60)
        stretch = rng.uniform(0.62, 1.05) if face.is_mono else rng.uniform(0.8, 1.05)
        pitch = (600 - 2 * margin) / rng.uniform(30, 46)  # letters across
        size = pitch / ((0.6 if face.is_mono else 0.54) * stretch)
        column = cls(
            sheet,
            face,
            left=margin,
            right=600 - margin,
            size=size,
            leading=size * rng.uniform(0.95, 1.45),
            stretch=stretch,
            is_shouting=rng.random() < 0.4,
            rule=pick(rng, _RULES),
        )
        column.y = rng.choice([0.3, 1, 1, 2, 3, 6]) * size
        return column

    @property
    def width(self):
        return self.right - self.left

    def gap(self, rows):
        self.y += rows * self.leading

    def line(self, text, align=0.0, *, big=1.0, stretch=1.0, face=None):
        """One run of text: left, in the middle or right, shortened until it fits, in the column's face or another."""
        x = self.left + align * self.width
        usual, self.face = self.face, face or self.face
        self.row([(align, x, text)], big=big, stretch=stretch)
        self.face = usual

    def row(self, cells, *, big=1.0, stretch=1.0):
        """Runs (align, x, text) side by side; those too close to a neighbor are shortened or omitted.

        Empty texts are omitted. The last cell is placed first, since amounts have priority over names.
        """
        self.y += self.leading * max(big, 1.0)
        size, stretch = self.size * big, self.stretch * stretch
        low, high = self.left - 2, self.right + 2
        for align, x, text in reversed(cells):
            if align == 1:
                room = x - low if x <= high else 0.0
            else:
                room = high - x if align == 0 else 2 * min(x - low, high - x)
            text = self._fit(text.strip(), size, stretch, room)
            if text:
                width = self._width(text, size, stretch)
                self.sheet.write(text, self.face, size, x, self.y, align=align, stretch=stretch)
                high = min(high, x - align * width - GAP * size)

    def rule(self):
        """A horizontal rule, of characters or drawn."""
        self.y += self.leading
        if self._rule == "_":
            self.sheet.stroke([(self.left, self.y - 0.3 * self.size), (self.right, self.y - 0.3 * self.size)], 2)
            return
        n = int(self.width / (self._width(self._rule * 10, self.size, self.stretch) / 10))
        self.sheet.write(self._rule * n, self.face, self.size, self.left, self.y, stretch=self.stretch, is_boxed=False)

    def finish(self):
        """The sheet."""
        self.sheet.height = self.y + 2 * self.leading
        return self.sheet

    def _width(self, text, size, stretch):
        return self.face.width(text, size) * stretch

    def _fit(self, text, size, stretch, room):
        if not self.face.holds(text):
            text = "".join(char for char in text if self.face.holds(char)).strip()
        while text and self._width(text, size, stretch) > room:
            cut = int(len(text) * room / self._width(text, size, stretch))
            text = text[: min(max(cut, 0), len(text) - 1)].strip()
        return text


def _ink(rng):
    if rng.random() < 0.12:
        return tuple(int(c) for c in pick(rng, [(60, 60, 150), (110, 60, 140), (40, 80, 110), (120, 40, 60)]))
    shade = int(rng.choice([10, 30, 50, 80, 110, 140]))
    return shade, shade, shade
