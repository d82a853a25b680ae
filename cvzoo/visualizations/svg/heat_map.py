"""Heat maps of counts as SVG, such as confusion matrices."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import ShapeError
from cvzoo.reporting.import_matplotlib import import_matplotlib
from cvzoo.reporting.plot_figure import COLORS, figure_svg, plot_figure, set_tooltip

_WITH_NUMBERS = 16  # maximum number of classes for which cells have space for numbers


def heat_map(
    counts: npt.ArrayLike,
    row_names: Sequence[str],
    column_names: Sequence[str],
    *,
    row_title: str = "",
    column_title: str = "",
) -> str:
    """SVG with a cell for each count, whose darkness is its fraction of the row, and with tooltips.

    counts: (R, C) integers, none negative; row_names, column_names: R and C str
    Raises ShapeError if counts and names do not match, MissingExtraError without matplotlib.
    """
    counts = np.asarray(counts)
    if counts.shape != (len(row_names), len(column_names)):
        raise ShapeError(
            "heat_map: counts do not fit the names", expected=(len(row_names), len(column_names)), got=counts.shape
        )
    n_row, n_column = counts.shape
    n = max(n_row, n_column, 1)
    cell = 34 if n <= _WITH_NUMBERS else max(12, 900 // n)
    margin = min(18 + 6.0 * max(map(len, [*row_names, *column_names, ""])), 150)
    width, height = margin + cell * n_column + 20, margin + cell * n_row + 20
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    matplotlib = import_matplotlib()
    with plot_figure((round(height), round(width))) as figure:
        figure.text(margin / width, 1 - 11 / height, f"{column_title} →")
        figure.text(2 / width, 1 - (margin - 6) / height, f"{row_title} ↓")
        ax = figure.add_axes((margin / width, 20 / height, cell * n_column / width, cell * n_row / height))
        ax.set_xlim(0, max(n_column, 1))
        ax.set_ylim(max(n_row, 1), 0)
        ax.grid(visible=False)
        ax.spines[:].set(visible=True, alpha=0.3)
        size = min(10, cell - 2)
        ax.xaxis.tick_top()
        ax.set_xticks(np.arange(n_column) + 0.5, list(map(_short, column_names)), rotation=90, fontsize=size)
        ax.set_yticks(np.arange(n_row) + 0.5, list(map(_short, row_names)), fontsize=size)
        for r, c in np.argwhere(counts > 0).tolist():
            color = COLORS[0] if r == c else COLORS[1]
            words = f"{row_names[r]} → {column_names[c]}: {counts[r, c]} ({share[r, c]:.0%})"
            opacity = 0.12 + 0.88 * share[r, c]
            box = matplotlib.patches.Rectangle((c, r), 1, 1, facecolor=color, alpha=opacity, linewidth=0)
            set_tooltip(ax.add_patch(box), words)
            if n <= _WITH_NUMBERS:
                set_tooltip(ax.text(c + 0.5, r + 0.5, str(counts[r, c]), ha="center", va="center"), words)
        return figure_svg(figure, f"{row_title} by {column_title}")


def _short(name: str) -> str:
    return name if len(name) <= 22 else name[:21] + "…"
