"""Line plots as SVG."""

import html
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.reporting.import_matplotlib import import_matplotlib
from cvzoo.reporting.plot_figure import COLORS, INK, figure_svg, plot_figure
from cvzoo.typing.aliases import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 26, 38  # pixels around the frame
_N_TICK = 4
_TITLE = "title of the curve"  # stands where those of small multiples come
Range = tuple[float, float]


class Line(NamedTuple):
    """A curve: x and y (N,), a name for the legend or None, and whether it is only a reference line."""

    x: Array
    y: Array
    name: str | None = None
    is_guide: bool = False


def line_plot(
    lines: Sequence[Line],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    x_range: Range | None = (0, 1),
    y_range: Range | None = (0, 1),
    size: tuple[int, int] = (220, 300),
    steps: bool = False,
) -> str:
    """SVG with the curves, by matplotlib; text and axes have the color of the surrounding text.

    lines: Line each; NaN points interrupt a curve
    title, x_label, y_label: plain text
    x_range, y_range: ranges of the axes, to which points are clipped; None: those of all points
    size: (height, width) in pixels; steps: a value holds until the next point, instead of a straight line to it
    Raises ShapeError if x and y of a line differ in length, MissingExtraError without matplotlib.
    """
    with plot_figure(size) as figure:
        ax = framed_axes(figure, title=title, x_label=x_label, y_label=y_label)
        # clipping would remove half of a line's width along an edge of the axes
        clip = x_range is None or y_range is None
        draw_lines(ax, [_within(line, x_range, y_range) for line in lines], steps=steps, clip=clip)
        if x_range is not None:
            ax.set_xlim(*x_range)
        if y_range is not None:
            ax.set_ylim(*y_range)
        return figure_svg(figure, title or y_label)


def small_multiples(
    curves: Iterable[tuple[str, Array]],
    x: Array,
    *,
    guides: Sequence[Line] = (),
    x_label: str = "",
    y_label: str = "",
    size: tuple[int, int] = (170, 220),
) -> str:
    """SVGs of one curve each, with the same axes from 0 to 1: `line_plot` of each, where matplotlib draws only one.

    curves: (title, y (N,)) each, where NaN interrupts a curve; x: (N,)
    guides: lines that all of them have; x_label, y_label, size: as of `line_plot`
    Raises ShapeError if a curve and x differ in length, MissingExtraError without matplotlib.
    """
    with plot_figure(size) as figure:
        ax = framed_axes(figure, title=_TITLE, x_label=x_label, y_label=y_label)
        draw_lines(ax, [*guides, Line(np.array([0.0, 1.0]), np.array([0.0, 1.0]))], clip=False)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        pattern = figure_svg(figure, _TITLE)
        (left, low), (right, high) = ax.transData.transform([(0, 0), (1, 1)])
    before, between, after = pattern.split(_TITLE)
    # the last path in the color of curves
    at = re.search(rf'.*<path d="()[^"]*()" style="[^"]*{COLORS[0]}', between, re.DOTALL)
    assert at is not None
    first, last = between[: at.start(1)], between[at.end(2) :]
    parts = []
    for title, y in curves:
        line = _within(Line(x, y), (0, 1), (0, 1))
        _check_lengths(line.x, line.y)
        path = _path(left + line.x * (right - left), size[0] - (low + line.y * (high - low)))
        parts.append(f"{before}{html.escape(title)}{first}{path}{last}{html.escape(title)}{after}")
    return "".join(parts)


def _path(x: Array, y: Array) -> str:
    """The commands of SVG's path along the points, in pixels; points in the middle of a level stretch are left out."""
    good = np.isfinite(x) & np.isfinite(y)
    level = np.zeros(len(y), bool)
    level[1:-1] = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])
    alone = _alone(good)
    words, is_new = [], True
    for i in np.flatnonzero(~good | ~level).tolist():
        if good[i]:
            words.append(f"{'M' if is_new else 'L'}{x[i]:.6g} {y[i]:.6g}{'h0' if alone[i] else ''}")
        is_new = not good[i]
    return "".join(words)


def _within(line: Line, x_range: Range | None, y_range: Range | None) -> Line:
    """The line with points outside of the ranges moved to their ends."""
    x = line.x if x_range is None else np.clip(np.asarray(line.x, np.float64), *x_range)
    return line._replace(x=x, y=line.y if y_range is None else np.clip(np.asarray(line.y, np.float64), *y_range))


def framed_axes(figure: "Figure", *, title: str = "", x_label: str = "", y_label: str = "") -> "Axes":
    """The only axes of a figure, with margins for labels and short tick labels."""
    width, height = figure.get_size_inches() * figure.dpi
    ax = figure.add_axes((_LEFT / width, _BOTTOM / height, 1 - (_LEFT + _RIGHT) / width, 1 - (_TOP + _BOTTOM) / height))
    ticker = import_matplotlib().ticker
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(ticker.MaxNLocator(_N_TICK, steps=(1, 2, 2.5, 5, 10)))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:.4g}"))
    ax.set_title(title)
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    return ax


def draw_lines(
    ax: "Axes", lines: Sequence[Line], *, steps: bool = False, marker: str | None = None, clip: bool = True
) -> None:
    """Draw the curves on axes, with a legend of those that have names.

    marker: matplotlib's marker of points, or None; clip: whether lines are clipped to the axes
    Raises ShapeError if x and y of a line differ in length.
    """
    for line in lines:
        x, y = (np.asarray(each, np.float64) for each in (line.x, line.y))
        _check_lengths(x, y)
        if line.is_guide:
            ax.plot(x, y, color=INK, alpha=0.5, linestyle=(0, (3, 3)), linewidth=1)
            continue
        style: dict[str, Any] = {"drawstyle": "steps-post" if steps else "default", "marker": marker, "clip_on": clip}
        (drawn,) = ax.plot(x, y, label=line.name, **style)
        alone = _alone(np.isfinite(x) & np.isfinite(y))
        if marker is None and alone.any():  # a point without neighbors has no line
            ax.plot(
                x[alone], y[alone], linestyle="none", marker="o", markersize=4, clip_on=clip, color=drawn.get_color()
            )
    if any(line.name and not line.is_guide for line in lines):
        ax.legend(loc="best")


def _check_lengths(x: Array, y: Array) -> None:
    if x.shape != y.shape or x.ndim != 1:
        raise ShapeError(
            "line_plot: x and y of a line differ in length", expected="two equal (N,)", got=(x.shape, y.shape)
        )


def _alone(good: np.ndarray) -> Array:
    """Which of the good points have no good neighbor."""
    padded = np.concatenate(([False], good, [False]))
    return good & ~padded[:-2] & ~padded[2:]
