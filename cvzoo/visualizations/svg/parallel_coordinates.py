"""Parallel coordinates as SVG."""

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.reporting.plot_figure import COLORS, INK, figure_svg, plot_figure
from cvzoo.typing.aliases import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMN, _HEIGHT = 128, 300  # pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 40, 56, 14
_N_TICK = 5
_CLOSE = 0.08  # of the axis, at which ticks would overlap
_MOST_TICKS = 8  # of categories
_CURVE = np.linspace(0, 1, 24)
_EASE = _CURVE * _CURVE * (3 - 2 * _CURVE)  # lines reach an axis at a right angle, so that crossings can be followed


class Coordinate(NamedTuple):
    """A vertical axis: its name, a value of each item, and whether the axis is logarithmic.

    values: numbers, NaN for missing ones; or anything else, which are categories in order of appearance
    """

    name: str
    values: Sequence[object]
    is_log: bool = False


def parallel_coordinates(coordinates: Sequence[Coordinate], *, title: str = "") -> str:
    """SVG with an axis per coordinate and a line per item, whose color is stronger the higher its last value.

    coordinates: with the same number N of values; the last has numbers. The first item with the highest last
        value is highlighted; those without one are dashed
    Raises ShapeError if numbers of values differ, MissingExtraError without matplotlib.
    """
    lengths = [len(each.values) for each in coordinates]
    if len(set(lengths)) != 1:
        raise ShapeError("the coordinates differ in their number of values", expected="the same", got=lengths)
    width = _LEFT + _COLUMN * (len(coordinates) - 1) + _RIGHT
    with plot_figure((_HEIGHT, width)) as figure:
        box = (_LEFT / width, _BOTTOM / _HEIGHT, 1 - (_LEFT + _RIGHT) / width, 1 - (_TOP + _BOTTOM) / _HEIGHT)
        ax = figure.add_axes(box)
        ax.axis("off")
        ax.set_xlim(0, max(len(coordinates) - 1, 1))
        ax.set_ylim(0, 1)
        heights = np.array([_draw_axis(ax, x, each) for x, each in enumerate(coordinates)])
        _draw_items(ax, heights)
        if title:
            figure.text(0, 1 - 12 / _HEIGHT, title, weight="bold", size=11)
        return figure_svg(figure, title)


def _draw_axis(ax: "Axes", x: int, coordinate: Coordinate) -> Array:
    """Draws the axis with its ticks; returns the values' heights from 0 to 1, NaN for missing ones."""
    heights, ticks = _heights(coordinate)
    ax.plot((x, x), (0, 1), color=INK, linewidth=0.8, clip_on=False, solid_capstyle="butt")
    for height, text in ticks:
        # above the lines that arrive here
        where: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "va": "bottom", "size": 9}
        ax.annotate(text, (x, height), (-4, 1), annotation_clip=False, **where)
    ax.annotate(
        coordinate.name, (x, 1), (0, 17), textcoords="offset points", ha="center", size=9, weight="bold", clip_on=False
    )
    return heights


def _heights(coordinate: Coordinate) -> tuple[Array, list[tuple[float, str]]]:
    values = coordinate.values
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in values):
        texts = [str(each) for each in values]
        known = sorted(dict.fromkeys(texts))
        at = {text: (k + 0.5) / len(known) for k, text in enumerate(known)}
        every = -(-len(known) // _MOST_TICKS)
        return np.array([at[text] for text in texts]), [(at[text], text[:14]) for text in known[::every]]
    numbers = np.array(values, np.float64)
    scaled = np.log(numbers) if coordinate.is_log else numbers
    finite = scaled[np.isfinite(scaled)]
    if not len(finite):
        return np.full(len(scaled), math.nan), []
    low, high = float(finite.min()), float(finite.max())
    if high == low:
        ticks = [(0.5, _text(math.exp(high) if coordinate.is_log else high))]
        return np.where(np.isnan(scaled), math.nan, 0.5), ticks
    places = (np.unique(finite) - low) / (high - low)
    if len(places) > _N_TICK or np.diff(places).min() < _CLOSE:
        places = np.linspace(0, 1, _N_TICK)
    shown = low + places * (high - low)
    texts = [_text(math.exp(each) if coordinate.is_log else each) for each in shown]
    return (scaled - low) / (high - low), list(zip(places.tolist(), texts))


def _text(value: float) -> str:
    return f"{value:.3g}"


def _draw_items(ax: "Axes", heights: Array) -> None:
    """heights: (coordinates, N) from 0 to 1"""
    last = heights[-1]
    order = np.lexsort((-np.arange(len(last)), np.where(np.isnan(last), -1, last)))  # the best, first of equals, on top
    for i in order:
        y = heights[:, i]
        is_best = i == order[-1] and not np.isnan(last[i])
        pairs = list(enumerate(itertools.pairwise(y)))
        xs = np.concatenate([k + _CURVE for k, _ in pairs] or [np.zeros(1)])
        ys = np.concatenate([a + (b - a) * _EASE for _, (a, b) in pairs] or [y])
        if np.isnan(last[i]):
            ax.plot(xs, ys, color=INK, alpha=0.4, linewidth=1, linestyle=(0, (3, 3)), clip_on=False)
            continue
        color, width, alpha = (COLORS[1], 2.6, 1.0) if is_best else (COLORS[0], 1.5, 0.3 + 0.6 * float(last[i]))
        ax.plot(xs, ys, color=color, linewidth=width, alpha=alpha, clip_on=False)
