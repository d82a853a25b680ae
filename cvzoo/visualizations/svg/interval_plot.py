"""Intervals around zero as SVG."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.reporting.plot_figure import COLORS, INK, figure_svg, plot_figure
from cvzoo.typing.aliases import Array

_ROW = 20  # pixels
_BOTTOM = 28
_WIDTH, _NAME_WIDTH = 620, 150


def interval_plot(names: Sequence[str], intervals: Array, *, title: str = "") -> str:
    """A piece of SVG with a row per name: the interval as a line, its value as a point, and a line at zero.

    names: N str; intervals: (N, 3) float64: lower bound, value, upper bound; NaN for a row without
    Intervals that contain zero are paler. Raises ShapeError if lengths differ, MissingExtraError without matplotlib.
    """
    if intervals.shape != (len(names), 3):
        raise ShapeError("there must be an interval for each name", expected=(len(names), 3), got=intervals.shape)
    low, value, high = intervals.T
    top = 24 if title else 4
    height = top + _ROW * max(len(names), 1) + _BOTTOM
    with plot_figure((height, _WIDTH)) as figure:
        box = (_NAME_WIDTH / _WIDTH, _BOTTOM / height, 1 - (_NAME_WIDTH + 14) / _WIDTH, 1 - (top + _BOTTOM) / height)
        ax = figure.add_axes(box)
        for side in ("top", "left", "right"):
            ax.spines[side].set_visible(False)
        ax.axvline(0, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
        rows = np.arange(len(names))
        for row in rows[~np.isnan(value)]:
            alpha = 1.0 if low[row] > 0 or high[row] < 0 else 0.45
            ax.plot((low[row], high[row]), (row, row), color=COLORS[0], linewidth=2.5, alpha=alpha)
            ax.plot(value[row], row, "o", color=COLORS[0], markersize=5, alpha=alpha)
        ax.set_yticks(rows, list(map(str, names)))
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
        if title:
            figure.text(0, 1 - 14 / height, title, weight="bold", size=10)
        return figure_svg(figure, title)
