"""Marks on documents that are no lines of text: logos, bar codes, stamps, pen marks."""

import numpy as np
from PIL import Image, ImageDraw

from rendered_documents import words
from rendered_documents.words import pick

PENS = ((30, 30, 40), (40, 50, 130), (30, 40, 160), (150, 40, 40), (60, 60, 60))


def draw_logo(rng, sheet, x, y, height, fonts):
    """A sign around x, from y on, that high; perhaps with a name in it, which is a run of text. Where it ends: y."""
    if rng.random() < 0.4:  # a name in a hand's or a headline's letters
        face = fonts.by_lot(rng, hand=0.5)
        name = words.syllables(rng, 2).title()
        size = min(height, 0.8 * sheet.width / max(face.width(name, 1.0), 0.1))
        sheet.write(name, face, size, x, y + 0.8 * size, align=0.5)
        return y + size
    ink = Image.new("L", (96, 96))
    pen = ImageDraw.Draw(ink)
    for _ in range(int(rng.integers(1, 5))):
        a, b = np.sort(rng.integers(0, 96, (2, 2)), axis=0)
        box = (*map(int, a), *(int(v) for v in np.maximum(b, a + 8)))
        fill = int(pick(rng, [0, 255, 255, 160]))
        pick(rng, [pen.ellipse, pen.rectangle])(box, fill=fill, outline=255, width=int(rng.integers(1, 6)))
    for _ in range(int(rng.integers(0, 3))):
        pen.polygon([tuple(map(int, point)) for point in rng.integers(0, 96, (3, 2))], fill=int(pick(rng, [0, 255])))
    width = height * rng.uniform(0.7, 2.0)
    sheet.patch(np.asarray(ink), x - width / 2, y, width, height)
    return y + height + 6


def draw_bars(rng, sheet, x, y, width, height):
    """A bar code."""
    bars = np.repeat(np.tile([255, 0], 40), rng.integers(1, 4, 80)).astype(np.uint8)
    sheet.patch(np.tile(bars, (2, 1)), x, y, width, height)


def draw_squares(rng, sheet, x, y, side):
    """A square code."""
    code = (rng.random((25, 25)) < 0.5).astype(np.uint8) * 255
    for i, j in ((0, 0), (0, 18), (18, 0)):
        code[i : i + 7, j : j + 7] = 255
        code[i + 1 : i + 6, j + 1 : j + 6] = 0
        code[i + 2 : i + 5, j + 2 : j + 5] = 255
    sheet.patch(np.kron(code, np.ones((4, 4), np.uint8)), x, y, side, side)


def draw_stamp(rng, sheet, fonts):
    """A stamp somewhere on the sheet, with one to three lines that are runs of text."""
    color = pick(rng, [(190, 60, 60), (90, 80, 170), (60, 60, 150), (110, 110, 110), (80, 130, 100)])
    face = fonts.by_lot(rng, mono=0.2)
    size = rng.uniform(0.025, 0.05) * sheet.width
    angle = rng.normal(0, 8)
    lines = [pick(rng, ["PAID", "RECEIVED", words.date(rng), words.name(rng), words.company(rng), "COPY", "CASH"])]
    while rng.random() < 0.5 and len(lines) < 3:
        lines.append(pick(rng, [words.date(rng), words.name(rng), words.phone(rng), words.code(rng)]))
    lines = [text for text in lines if face.holds(text)]
    x = rng.uniform(0.25, 0.75) * sheet.width
    y = rng.uniform(0.2, 0.9) * sheet.height
    up = np.deg2rad(angle)
    for k, text in enumerate(lines):
        down = (k - (len(lines) - 1) / 2) * 1.4 * size
        at = x + down * np.sin(up), y + down * np.cos(up)
        sheet.write_turned(text, face, size, *at, angle=angle, color=color)
    if rng.random() < 0.7:
        w = (max((face.width(text, size) for text in lines), default=size) / 2 + size) * rng.uniform(1.0, 1.3)
        h = (len(lines) * 0.7 + 0.6) * size
        if rng.random() < 0.5:
            turn = np.linspace(0, 2 * np.pi, 41)
            outline = np.stack([1.25 * w * np.cos(turn), 1.8 * h * np.sin(turn)], axis=1)
        else:
            outline = np.array([(-w, -h), (w, -h), (w, h), (-w, h), (-w, -h)])
        turned = outline @ np.array([[np.cos(up), -np.sin(up)], [np.sin(up), np.cos(up)]])
        sheet.stroke([(x + a, y + b) for a, b in turned], 0.1 * size, color)


def draw_pen(rng, sheet):
    """A tick, a circle, a line or a signature, without boxes, since they are no text."""
    color = pick(rng, PENS)
    x, y = rng.uniform(0.05, 0.9) * sheet.width, rng.uniform(0.02, 0.98) * sheet.height
    size = rng.uniform(0.03, 0.12) * sheet.width
    kind = int(rng.integers(4))
    if kind == 0:
        points = np.array([(0, 0), (0.3, 0.5), (1.2, -0.9)])
    elif kind == 1:
        turn = np.linspace(rng.uniform(0, 6), rng.uniform(6, 8), 30)
        points = np.stack([1.6 * np.cos(turn), np.sin(turn) * np.linspace(0.8, 1, 30)], axis=1)
    elif kind == 2:
        points = np.array([(0, 0), (rng.uniform(1, 5), rng.normal(0, 0.4))])
    else:
        knots = np.cumsum(rng.normal((0.22, 0), (0.25, 0.45), (int(rng.integers(5, 14)), 2)), axis=0)
        points = _rounded(knots)
    sheet.stroke([(x + a * size, y + b * size) for a, b in points], rng.uniform(1.2, 5), color)


def _rounded(knots):
    """Corners cut off three times, which leaves curves."""
    for _ in range(3):
        a, b = knots[:-1], knots[1:]
        knots = np.stack([0.75 * a + 0.25 * b, 0.25 * a + 0.75 * b], axis=1).reshape(-1, 2)
    return knots
