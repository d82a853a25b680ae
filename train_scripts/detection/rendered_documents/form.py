"""Forms: labels, lines and boxes to fill in, some of them filled in."""

import numpy as np

from rendered_documents import words
from rendered_documents.marks import PENS, draw_pen, draw_stamp
from rendered_documents.page_style import PageStyle
from rendered_documents.words import listed, pick

_TITLES = listed("APPLICATION FORM|Registration|Anmeldung|Claim Form|MEDICAL RECORD|Survey|Order Form|FORMULAIRE|Visa")
_LABELS = listed(
    "Name|First name|Surname|Date of birth|Address|City|Country|Phone|E-mail|Signature|Date|Place|Amount|Bank|IBAN|Sex|"
    "Nationality|Passport No.|Remarks|Department|Vorname|Geburtsdatum|Adresse|Nom|Code postal|Company|Title|Employer"
)


def draw_form(rng, fonts):
    """A sheet with a form."""
    style = PageStyle(rng, fonts, least=8, most=13)
    filled = fonts.by_lot(rng, hand=0.5, mono=0.2, matrix=0.1)
    color = pick(rng, PENS) if rng.random() < 0.5 else None
    y = style.title(rng, style.margin * 0.6, pick(rng, _TITLES)) + style.leading
    n_column = int(rng.choice([1, 2, 2, 3]))
    pitch = style.leading * rng.uniform(1.2, 2.2)
    is_boxed = rng.random() < 0.5
    is_above = is_boxed and rng.random() < 0.5  # labels stand in the corner of their box
    wide = (style.right - style.margin) / n_column
    for _ in range(int(rng.integers(4, 18))):
        if rng.random() < 0.1:
            y += pitch
            style.put(words.phrase(rng, 3, style.script).title(), style.margin, y, face=style.bold, big=1.2)
            style.rule(y + 0.4 * style.size)
        y += pitch * (1.3 if is_above else 1)
        for column in range(n_column):
            left = style.margin + column * wide
            _draw_field(rng, style, left, left + wide - style.size, y, is_boxed, is_above, filled, color)
    for _ in range(int(rng.integers(0, 4))):
        y += pitch
        _draw_choice(rng, style, y)
    style.sheet.height = y + style.margin
    if rng.random() < 0.25:
        draw_stamp(rng, style.sheet, fonts)
    for _ in range(int(rng.choice([0, 0, 1, 2]))):
        draw_pen(rng, style.sheet)
    return style.sheet


def _draw_field(rng, style, left, right, y, is_boxed, is_above, filled, color):
    label = pick(rng, _LABELS) if rng.random() < 0.75 else words.phrase(rng, 2, style.script).capitalize()
    value = pick(rng, [words.date(rng), words.code(rng), words.name(rng).title(), words.phone(rng), words.site(rng)])
    value = value if rng.random() < 0.65 else ""
    if is_above:
        top, bottom = y - 2.3 * style.size, y + 0.5 * style.size
        style.sheet.stroke(
            [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], 1, (150, 150, 150)
        )
        style.put(label, left + 0.4 * style.size, top + 0.9 * style.size, big=0.75, room=right - left)
        style.put(value, left + style.size, y, face=filled, color=color, room=right - left - 2 * style.size)
        return
    end = left + style.put(label + pick(rng, ["", ":"]), left, y, room=0.8 * (right - left))
    start = end + 1.4 * style.size
    style.put(value, start, y - 0.1 * style.size, face=filled, color=color, room=right - start)
    if start + style.size < right:
        if is_boxed:
            box = [(start - 0.5 * style.size, y - 1.2 * style.size), (right, y + 0.5 * style.size)]
            (x0, y0), (x1, y1) = box
            style.sheet.stroke([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], 1, (150, 150, 150))
        else:
            style.rule(y + 0.35 * style.size, end + 0.4 * style.size, right, 0.8, (130, 130, 130))


def _draw_choice(rng, style, y):
    """Little boxes to tick, each with a word."""
    x = style.margin
    while x < style.right - 4 * style.size:
        side = 0.8 * style.size
        style.sheet.stroke([(x, y - side), (x + side, y - side), (x + side, y), (x, y), (x, y - side)], 1)
        if rng.random() < 0.3:
            style.sheet.stroke([(x, y - side), (x + side, y)], 1)
            style.sheet.stroke([(x, y), (x + side, y - side)], 1)
        start = x + 2 * side
        width = style.put(words.phrase(rng, int(rng.integers(1, 3)), style.script), start, y, room=style.right - start)
        x = start + width + style.size * float(np.clip(rng.normal(4, 2), 1.5, 12))
