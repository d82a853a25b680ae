"""Curves in a file of their own."""

import io
import os

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.visualizations.svg.legend_place import LEGEND_ROW, legend_place
from cvzoo.visualizations.svg.line_plot import COLORS, line_plot
from cvzoo.visualizations.svg.number import tick

_STYLE = "<style>.plot-text{font:11px sans-serif}.plot-title{font:600 12px sans-serif}</style>"
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 18, 24, 34  # pixels around the frame
_INK, _RULE = (40, 40, 40), (222, 222, 222)
_FINE = 3  # PNGs are drawn this much larger and then reduced, so that slanted lines are smooth


def write_line_plot(path, lines, *, title="", x_label="", y_label="", x_range=(0, 1), y_range=(0, 1), size=(300, 460)):
    """Write the curves as a picture on white; the file is whole or not there.

    path: its ending says the kind, .svg or .png
    lines, title, x_label, y_label, x_range, y_range, size: as for `line_plot`
    Raises ValueRangeError for another ending, OSError if the folder cannot be written.
    """
    kind = os.path.splitext(path)[1].lower()
    frame = {"title": title, "x_label": x_label, "y_label": y_label, "x_range": x_range, "y_range": y_range}
    if kind == ".svg":
        data = _standalone(line_plot(lines, **frame, size=size)).encode("utf-8")
    elif kind == ".png":
        data = _png(lines, **frame, size=size)
    else:
        raise ValueRangeError(f"{os.fspath(path)}: no such kind of plot", expected=".svg or .png", got=repr(kind))
    with atomic_write(path) as file:
        file.write(data)


def _standalone(svg):
    head, inside = svg.split(">", 1)
    head = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" style="color:#222" ')
    return f'{head}>{_STYLE}<rect width="100%" height="100%" fill="#fff"/>{inside}\n'


def _png(lines, *, title, x_label, y_label, x_range, y_range, size):
    height, width = size
    frame = _LEFT, _TOP, width - _RIGHT, height - _BOTTOM
    pil = Image.new("RGB", (width * _FINE, height * _FINE), "white")
    draw = ImageDraw.Draw(pil)
    points = [_places(line, x_range, y_range, frame) for line in lines]
    _draw_rules(draw, frame)
    used = 0
    for line, place in zip(lines, points):
        color = _INK if line.is_guide else COLORS[used % len(COLORS)]
        used += not line.is_guide
        for run in _runs(place):
            draw.line([tuple(point * _FINE) for point in run], fill=color, width=2 * _FINE, joint="curve")
            for x, y in run * _FINE if len(run) == 1 else ():
                draw.ellipse((x - 6, y - 6, x + 6, y + 6), fill=color)
    pil = pil.resize((width, height), Image.Resampling.BOX)
    _write_texts(ImageDraw.Draw(pil), frame, title, x_label, y_label, x_range, y_range)
    _write_legend(ImageDraw.Draw(pil), points, frame, [line.name for line in lines if not line.is_guide])
    buffer = io.BytesIO()
    pil.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _places(line, x_range, y_range, frame):
    """(N, 2) float64 of x and y in the picture, cut to the frame; NaN where there is no value."""
    left, top, right, bottom = frame
    x = np.clip(np.asarray(line.x, np.float64), *x_range)
    y = np.clip(np.asarray(line.y, np.float64), *y_range)
    x = left + (x - x_range[0]) / (x_range[1] - x_range[0]) * (right - left)
    y = bottom - (y - y_range[0]) / (y_range[1] - y_range[0]) * (bottom - top)
    return np.stack((x, y), axis=1)


def _runs(place):
    """Runs of points without NaN."""
    good = np.isfinite(place).all(axis=1)
    for run in np.split(np.arange(len(place)), np.flatnonzero(np.diff(good.astype(int))) + 1):
        if len(run) and good[run[0]]:
            yield place[run]


def _draw_rules(draw, frame):
    left, top, right, bottom = (each * _FINE for each in frame)
    for x in np.linspace(left, right, 5):
        draw.line((x, top, x, bottom), fill=_RULE, width=_FINE)
    for y in np.linspace(top, bottom, 5):
        draw.line((left, y, right, y), fill=_RULE, width=_FINE)


def _write_texts(draw, frame, title, x_label, y_label, x_range, y_range):
    left, top, right, bottom = frame
    font = ImageFont.load_default(11)
    for x, value in zip(np.linspace(left, right, 3), np.linspace(*x_range, 3)):
        draw.text((x, bottom + 4), tick(value), fill=_INK, font=font, anchor="ma")
    for y, value in zip(np.linspace(bottom, top, 3), np.linspace(*y_range, 3)):
        draw.text((left - 5, y), tick(value), fill=_INK, font=font, anchor="rm")
    draw.text(((left + right) / 2, bottom + 19), x_label, fill=_INK, font=font, anchor="ma")
    head = " - ".join(text for text in (title, y_label) if text)
    draw.text((left, top - 6), head, fill=_INK, font=ImageFont.load_default(12), anchor="ls")


def _write_legend(draw, places, frame, names):
    font = ImageFont.load_default(11)
    named = [(i, name) for i, name in enumerate(names) if name]
    points = [point for place in places for point in place[np.isfinite(place).all(axis=1)]]
    x, top = legend_place(points, frame, [name for _, name in named])
    for row, (i, name) in enumerate(named):
        y = top + LEGEND_ROW * (row + 0.5)
        draw.rectangle((x, y - 1, x + 10, y + 1), fill=COLORS[i % len(COLORS)])
        draw.text((x + 14, y), name, fill=_INK, font=font, anchor="lm")
