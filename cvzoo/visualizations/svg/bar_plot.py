"""Bars with their names in front and their values behind."""

import html

from cvzoo.errors.exceptions import ShapeError
from cvzoo.visualizations.svg.line_plot import COLORS
from cvzoo.visualizations.svg.number import coordinate

_ROW = 22  # pixels


def bar_plot(names, values, *, texts=None, title="", most=None, width=460, name_width=130):
    """A piece of SVG with a horizontal bar for each value.

    names: N str; values: N numbers, none negative, NaN for a missing bar
    texts: N str behind the bars; None: the values
    most: the value of a bar of full length; None: the largest; width, name_width: pixels
    Raises ShapeError if lengths differ.
    """
    texts = [f"{value:.3f}" for value in values] if texts is None else texts
    if not len(names) == len(values) == len(texts):
        raise ShapeError("a bar needs a name, a value and a text", got=(len(names), len(values), len(texts)))
    most = max([value for value in values if value == value], default=0) if most is None else most
    full = width - name_width - 90
    top = 22 if title else 2
    height = top + _ROW * len(names) + 2
    parts = [
        f'<svg class="plot" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"<title>{html.escape(title)}</title>",
    ]
    if title:
        parts.append(f'<text class="plot-title" x="0" y="14" fill="currentColor">{html.escape(title)}</text>')
    for row, (name, value, text) in enumerate(zip(names, values, texts)):
        y = top + _ROW * row
        length = full * min(max(value, 0), most) / most if most > 0 and value == value else 0
        parts.append(
            f'<text class="plot-text" x="{name_width - 6}" y="{y + 15}" text-anchor="end" fill="currentColor">'
            f"{html.escape(str(name))}</text>"
            f'<rect x="{name_width}" y="{y + 4}" width="{coordinate(max(length, 1))}" height="{_ROW - 8}" '
            f'fill="{COLORS[0]}"/>'
            f'<text class="plot-text" x="{coordinate(name_width + length + 6)}" y="{y + 15}" fill="currentColor">'
            f"{html.escape(str(text))}</text>"
        )
    return "".join([*parts, "</svg>"])
