"""The plots of a run's report."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.reporting.counted import counted
from cvzoo.training.interval_means import WHERE
from cvzoo.typing.aliases import Array
from cvzoo.visualizations.svg.line_plot import Line, line_plot

_MAX_PLOTS = 60  # one plot per class of a large data set would be too many

Rows = Sequence[Mapping[str, Any]]


def curves(rows: Rows, iterations: Rows = ()) -> str:
    """HTML with a plot per value; values with the same suffix share one: main/loss, validation/main/loss.

    rows: means of epochs, from metrics.jsonl; iterations: means of fewer iterations, for the values with more points
        there
    """
    groups: dict[str, list[str]] = {}
    for key in dict.fromkeys([*value_keys(rows), *value_keys(iterations)]):
        groups.setdefault(key.rpartition("main/")[2], []).append(key)
    pieces = []
    for title, keys in list(groups.items())[:_MAX_PLOTS]:
        lines = [Line(*_points(rows, iterations, key), key if len(keys) > 1 else None) for key in keys]
        lines = [line for line in lines if len(line.x)]
        if lines:
            pieces.append(_plot(lines, title if len(keys) > 1 else keys[0]))
    left_out = len(groups) - _MAX_PLOTS
    note = f"<p>{counted(left_out, 'more value is', 'more values are')} in metrics.csv.</p>" if left_out > 0 else ""
    return f'<div class="grid">{"".join(pieces)}</div>{note}' if pieces else ""


def value_keys(rows: Rows) -> list[str]:
    """The names of the values, in order of appearance, without epoch, iteration and time."""
    return [key for key in dict.fromkeys(key for row in rows for key in row) if key not in WHERE]


def _plot(lines: Sequence[Line], title: str) -> str:
    return line_plot(
        lines,
        title=title,
        x_label="iteration",
        x_range=None,
        y_range=None,
        size=(240, 360),
    )


def _points(rows: Rows, iterations: Rows, key: str) -> tuple[Array, Array]:
    """Iterations and values of a key; NaN for values that were not finite."""
    coarse, fine = ([row for row in each if key in row] for each in (rows, iterations))
    chosen = fine if len(fine) > len(coarse) else coarse
    x = np.array([row["iteration"] for row in chosen], np.float64)
    y = np.array([math.nan if row[key] is None else row[key] for row in chosen], np.float64)
    return x, y
