"""Horizontal bar plots as SVG."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.reporting.plot_figure import COLORS, figure_svg, plot_figure

_ROW = 22  # pixels
_TEXT = 90  # pixels after the longest bar


def bar_plot(
    names: Sequence[str],
    values: Sequence[float],
    *,
    texts: Sequence[str] | None = None,
    title: str = "",
    most: float | None = None,
    width: int = 460,
    name_width: int = 130,
) -> str:
    """SVG with a horizontal bar for each value, by matplotlib.

    names: N str; values: N numbers, none negative, NaN for a missing bar
    texts: N str after the bars; None: the values
    most: the value of a bar of full length; None: the maximum; width, name_width: pixels
    Raises ShapeError if lengths differ, MissingExtraError without matplotlib.
    """
    texts = [f"{value:.3f}" for value in values] if texts is None else texts
    if not len(names) == len(values) == len(texts):
        raise ShapeError("a bar needs a name, a value and a text", got=(len(names), len(values), len(texts)))
    lengths = np.nan_to_num(np.asarray(values, np.float64))
    most = float(lengths.max(initial=0)) if most is None else most
    top, full = 22 if title else 2, width - name_width - _TEXT
    height = top + _ROW * max(len(names), 1) + 2
    with plot_figure((height, width)) as figure:
        ax = figure.add_axes((name_width / width, 2 / height, full / width, 1 - (top + 2) / height))
        ax.set_axis_off()
        ax.set_xlim(0, most or 1)
        ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
        # a bar of length 0 is a line of one pixel
        shown = np.clip(lengths, (most or 1) / full, most or 1)
        ax.barh(np.arange(len(names)), shown, height=0.64, color=COLORS[0])
        for row, (name, text) in enumerate(zip(names, texts)):
            end = min(lengths[row] / most, 1) * full if most > 0 else 0
            place: dict[str, Any] = {
                "xycoords": ("axes fraction", "data"),
                "textcoords": "offset points",
                "va": "center",
            }
            ax.annotate(str(name), (0, row), (-6, 0), ha="right", annotation_clip=False, **place)
            ax.annotate(str(text), (0, row), (end + 6, 0), ha="left", annotation_clip=False, **place)
        if title:
            figure.text(0, 1 - 14 / height, title, weight="bold", size=10)
        return figure_svg(figure, title)
