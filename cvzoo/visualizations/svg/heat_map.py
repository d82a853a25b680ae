"""A table of counts as shaded cells."""

import html

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.visualizations.svg.line_plot import COLORS
from cvzoo.visualizations.svg.number import coordinate

_WITH_NUMBERS = 16  # more classes than this, and the cells are too small for numbers


def heat_map(counts, row_names, column_names, *, row_title="", column_title=""):
    """A piece of SVG: a cell for each count, darker the larger its share of its row; the mouse tells the number.

    counts: (R, C) integers, none negative; row_names, column_names: R and C str
    Raises ShapeError if they do not fit.
    """
    counts = np.asarray(counts)
    if counts.shape != (len(row_names), len(column_names)):
        raise ShapeError("heat_map: counts", expected=(len(row_names), len(column_names)), got=counts.shape)
    n = max(counts.shape)
    cell = 34 if n <= _WITH_NUMBERS else max(12, 900 // n)
    margin = 16 + 6.2 * max(map(len, [*row_names, *column_names, ""]))
    margin = min(margin, 150)
    width, height = margin + cell * counts.shape[1] + 20, margin + cell * counts.shape[0] + 20
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    box = f"{coordinate(width)} {coordinate(height)}"
    edge = coordinate(margin)
    row_title, column_title = html.escape(row_title), html.escape(column_title)
    parts = [
        f'<svg class="plot" viewBox="0 0 {box}" width="{coordinate(width)}" height="{coordinate(height)}" role="img">',
        f"<title>{row_title} by {column_title}</title>",
        f'<text class="plot-text" x="{edge}" y="11" fill="currentColor">{column_title} →</text>',
        f'<text class="plot-text" x="2" y="{coordinate(margin - 6)}" fill="currentColor">{row_title} ↓</text>',
        f'<rect x="{edge}" y="{edge}" width="{cell * counts.shape[1]}" height="{cell * counts.shape[0]}" fill="none" '
        'stroke="currentColor" opacity="0.3"/>',
    ]
    font = min(11, cell - 1)
    for r, name in enumerate(row_names):
        y = margin + cell * (r + 0.5) + font / 3
        parts.append(_name(margin - 5, y, name, font, ""))
    for c, name in enumerate(column_names):
        x = margin + cell * (c + 0.5) + font / 3
        turned = f' transform="rotate(90 {coordinate(x - 2 * font / 3)} {coordinate(margin - 5)})"'
        parts.append(_name(x - 2 * font / 3, margin - 5, name, font, turned))
    for r, c in np.argwhere(counts > 0).tolist():
        x, y = margin + cell * c, margin + cell * r
        what = f"{row_names[r]} → {column_names[c]}: {counts[r, c]} ({share[r, c]:.0%})"
        parts.append(
            f'<rect x="{coordinate(x)}" y="{coordinate(y)}" width="{cell}" height="{cell}" '
            f'fill="{COLORS[0] if r == c else COLORS[1]}" fill-opacity="{0.12 + 0.88 * share[r, c]:.2f}">'
            f"<title>{html.escape(what)}</title></rect>"
        )
        if n <= _WITH_NUMBERS:
            parts.append(
                f'<text class="plot-text" x="{coordinate(x + cell / 2)}" y="{coordinate(y + cell / 2 + 4)}" '
                f'text-anchor="middle" fill="currentColor" pointer-events="none">{counts[r, c]}</text>'
            )
    return "".join([*parts, "</svg>"])


def _name(x, y, name, font, turned):
    place = f'x="{coordinate(x)}" y="{coordinate(y)}" text-anchor="end" font-size="{font}"{turned}'
    short = html.escape(name if len(name) <= 22 else name[:21] + "…")
    return f'<text {place} fill="currentColor">{short}</text>'
