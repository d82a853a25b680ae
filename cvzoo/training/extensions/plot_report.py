"""Plots of reported values."""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.reporting.plot_figure import PLOT_ENDINGS, figure_file, plot_figure
from cvzoo.reporting.summary import DictSummary
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.interval_means import IntervalMeans
from cvzoo.training.output_folder import write_or_warn
from cvzoo.visualizations.svg.line_plot import Line, draw_lines, framed_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike

    Postprocess = Callable[[Figure, Axes, DictSummary], object]

X_KEYS = ("iteration", "epoch", "elapsed_time")


class PlotReport(AbstractExtension):
    """Plots the mean of each value over each interval with matplotlib, and rewrites the file each time.

    y_keys: the values' names, or one of them
    x_key: "iteration", "epoch" or "elapsed_time" (seconds)
    trigger: the interval
    postprocess: called with the figure, its axes and the DictSummary of the interval before the file is written, to
        change the plot
    filename: in the trainer's folder, by default plot.png; the suffix is the format: .png, .svg or .pdf
    marker: matplotlib's marker, or None
    grid: whether a grid is drawn
    file_name: alias of filename
    title: of the plot; size: (height, width) in pixels
    No file is written before the first value. If it cannot be written, a warning is given.
    Raises ValueRangeError for an unknown x_key or suffix, MissingExtraError without matplotlib.
    Source: Chainer's extension of this name. Where we differ: no display and no backend of pyplot is involved.
    """

    def __init__(
        self,
        y_keys: str | Sequence[str],
        x_key: str = "iteration",
        trigger: "TriggerLike" = (1, "epoch"),
        postprocess: "Postprocess | None" = None,
        filename: str | None = None,
        marker: str | None = "x",
        grid: bool = True,
        *,
        file_name: str | None = None,
        title: str = "",
        size: tuple[int, int] = (300, 460),
    ):
        if x_key not in X_KEYS:
            raise ValueRangeError(f"PlotReport: x_key {x_key!r} is unknown", expected=" or ".join(X_KEYS))
        self._y_keys = (y_keys,) if isinstance(y_keys, str) else tuple(y_keys)
        self._x_key = x_key
        self._means = IntervalMeans(trigger, self._y_keys)
        self._postprocess = postprocess
        self._filename = plot_name("PlotReport", filename, file_name, "plot.png")
        self._marker = marker
        self._grid = grid
        self._title = title
        self._size = size
        self._points: dict[str, list[tuple[float, float]]] = {key: [] for key in self._y_keys}

    @staticmethod
    def available() -> bool:
        """Whether matplotlib is installed."""
        return find_spec("matplotlib") is not None

    def __call__(self, trainer: "Trainer") -> None:
        entry = self._means(trainer)
        if entry is None:
            return
        x = float(trainer.updater.epoch_detail if self._x_key == "epoch" else entry[self._x_key])
        for key in self._y_keys:
            if key in entry:
                self._points[key].append((x, float(entry[key])))
        if any(self._points.values()):
            write_figure(os.path.join(trainer.out, self._filename), self._size, self._draw)

    def _draw(self, figure: "Figure") -> None:
        lines = []
        for key, points in self._points.items():
            if points:
                x, y = np.array(points).T
                lines.append(Line(x, y, key))
        ax = framed_axes(figure, title=self._title, x_label=self._x_key.replace("_", " "))
        draw_lines(ax, lines, marker=self._marker)
        ax.grid(visible=self._grid)
        if self._postprocess is not None:
            self._postprocess(figure, ax, self._means.summary)

    def state(self) -> dict[str, Any]:
        points = {key: [list(point) for point in points] for key, points in self._points.items()}
        return {"means": self._means.state(), "points": points}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._means.load_state(state["means"])
        self._points = {key: [(float(x), float(y)) for x, y in state["points"].get(key, ())] for key in self._y_keys}


def plot_name(what: str, filename: str | None, file_name: str | None, default: str) -> str:
    """The file name of a plot, given by either of two arguments. Raises ValueRangeError, which names `what`."""
    if filename is not None and file_name is not None:
        raise ValueRangeError(f"{what}: filename and file_name are the same argument", hint="give one of them")
    name = filename or file_name or default
    if os.path.splitext(name)[1] not in PLOT_ENDINGS:
        raise ValueRangeError(f"{what} cannot write {name!r}", expected=" or ".join(PLOT_ENDINGS))
    return name


def write_figure(path: str, size: tuple[int, int], draw: Callable[["Figure"], object]) -> None:
    """Writes a figure drawn by `draw(figure)`, atomically; gives a warning if it cannot be written."""
    with plot_figure(size, math=True) as figure:
        draw(figure)
        data = figure_file(figure, os.path.splitext(path)[1])

    def write() -> None:
        with atomic_write(path) as file:
            file.write(data)

    write_or_warn(path, write)
