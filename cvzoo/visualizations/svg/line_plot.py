"""Curves in a frame with axes."""

import html
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.visualizations.svg.legend_place import LEGEND_ROW, legend_place
from cvzoo.visualizations.svg.number import coordinate, tick

# dark enough on white and light enough on black; in order of use
COLORS = ("#2f6fb3", "#d1662a", "#3c8d40", "#a4499b", "#8a7a1f", "#1f8f8f")
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 18, 22, 34  # pixels around the frame


class Line(NamedTuple):
    """A curve: x and y (N,), a name for the legend or None, and whether it is only a guide for the eye."""

    x: np.ndarray
    y: np.ndarray
    name: str | None = None
    is_guide: bool = False


def line_plot(lines, *, title="", x_label="", y_label="", x_range=(0, 1), y_range=(0, 1), size=(220, 300), steps=False):
    """A piece of SVG with the curves; letters and frame take the colour of the text around.

    lines: Line each; points that are NaN interrupt a curve
    title, x_label, y_label: plain text; x_range, y_range: what the axes show, what lies outside is cut
    size: (height, width) in pixels; steps: a value holds until the next point, instead of a straight line to it
    Raises ShapeError if x and y of a line differ in length.
    """
    height, width = size
    inner_height, inner_width = height - _TOP - _BOTTOM, width - _LEFT - _RIGHT
    to_x, to_y = _scale(x_range, _LEFT, inner_width), _scale(y_range, _TOP + inner_height, -inner_height)
    parts = [
        f'<svg class="plot" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"<title>{html.escape(title or y_label)}</title>",
    ]
    if title:
        parts.append(_text(_LEFT, 14, title, "start", "plot-title"))
    for value in np.linspace(*x_range, 3):
        x = to_x(value)
        parts.append(_rule(x, _TOP, x, _TOP + inner_height))
        parts.append(_text(x, _TOP + inner_height + 13, tick(value), "middle"))
    for value in np.linspace(*y_range, 3):
        y = to_y(value)
        parts.append(_rule(_LEFT, y, _LEFT + inner_width, y))
        parts.append(_text(_LEFT - 5, y + 4, tick(value), "end"))
    parts.append(_text(_LEFT + inner_width / 2, height - 5, x_label, "middle"))
    middle = _TOP + inner_height / 2
    parts.append(f'<g transform="rotate(-90 10 {coordinate(middle)})">{_text(10, middle, y_label, "middle")}</g>')
    used = 0
    for line in lines:
        color = "currentColor" if line.is_guide else COLORS[used % len(COLORS)]
        used += not line.is_guide
        for points in _pieces(line, x_range, y_range, steps):
            path = " ".join(f"{coordinate(to_x(x))},{coordinate(to_y(y))}" for x, y in points)
            if len(points) == 1:  # a polyline of one point shows nothing
                x, y = points[0]
                parts.append(f'<circle cx="{coordinate(to_x(x))}" cy="{coordinate(to_y(y))}" r="2" fill="{color}"/>')
                continue
            style = 'stroke-dasharray="3 3" opacity="0.5"' if line.is_guide else 'stroke-width="1.8"'
            parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" {style}/>')
    named = [(i, line.name) for i, line in enumerate(line for line in lines if not line.is_guide) if line.name]
    drawn = [
        (to_x(x), to_y(y)) for line in lines for points in _pieces(line, x_range, y_range, steps) for x, y in points
    ]
    frame = _LEFT, _TOP, _LEFT + inner_width, _TOP + inner_height
    parts += _legend(named, *legend_place(drawn, frame, [name for _, name in named]))
    return "".join([*parts, "</svg>"])


def _scale(span, start, length):
    low, high = span
    return lambda value: start + (value - low) / (high - low) * length


def _pieces(line, x_range, y_range, steps):
    """Runs of points without NaN, cut to the frame."""
    x, y = (np.asarray(each, np.float64) for each in (line.x, line.y))
    if x.shape != y.shape or x.ndim != 1:
        raise ShapeError("a line's x and y", expected="two equal (N,)", got=(x.shape, y.shape))
    if steps and len(x):
        x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    good = np.isfinite(x) & np.isfinite(y)
    points = np.stack((np.clip(x, *x_range), np.clip(y, *y_range)), axis=1)
    for run in np.split(np.arange(len(x)), np.flatnonzero(np.diff(good.astype(int))) + 1):
        if len(run) and good[run[0]]:
            yield points[run]


def _legend(named, x, top):
    parts = []
    for row, (i, name) in enumerate(named):
        y = top + LEGEND_ROW * (row + 1) - 3
        color = COLORS[i % len(COLORS)]
        parts.append(f'<rect x="{coordinate(x)}" y="{coordinate(y - 7)}" width="10" height="3" fill="{color}"/>')
        parts.append(_text(x + 14, y, name, "start"))
    return parts


def _rule(x1, y1, x2, y2):
    ends = " ".join(f'{name}="{coordinate(v)}"' for name, v in zip(("x1", "y1", "x2", "y2"), (x1, y1, x2, y2)))
    return f'<line {ends} stroke="currentColor" opacity="0.18"/>'


def _text(x, y, text, anchor, kind="plot-text"):
    place = f'x="{coordinate(x)}" y="{coordinate(y)}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place} fill="currentColor">{html.escape(text)}</text>'
