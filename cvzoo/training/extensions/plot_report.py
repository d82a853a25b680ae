"""Curves of what was reported, as a picture."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.interval_means import IntervalMeans
from cvzoo.training.output_folder import write_or_warn
from cvzoo.visualizations.svg.axis_range import axis_range
from cvzoo.visualizations.svg.line_plot import Line
from cvzoo.visualizations.write_line_plot import write_line_plot

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

X_KEYS = ("iteration", "epoch", "elapsed_time")


class PlotReport(AbstractExtension):
    """Draws the means of every interval as curves, one a value, and writes the picture anew each time.

    y_keys: the values' names, or one of them
    x_key: "iteration", "epoch" or "elapsed_time" (seconds)
    trigger: the interval
    filename: in the trainer's folder; its ending says the kind: .png or .svg
    title: above the curves; size: (height, width) in pixels
    No picture is drawn before the first value came. One that cannot be written is told by a warning.
    Source: Chainer's contract. Where we differ: no matplotlib, so no `postprocess` of its figure.
    """

    def __init__(
        self,
        y_keys: str | Sequence[str],
        x_key: str = "iteration",
        trigger: Any = (1, "epoch"),
        *,
        filename: str = "plot.png",
        title: str = "",
        size: tuple[int, int] = (300, 460),
    ):
        if x_key not in X_KEYS:
            raise ValueRangeError("PlotReport: x_key", expected=" or ".join(X_KEYS), got=repr(x_key))
        if os.path.splitext(filename)[1] not in (".png", ".svg"):
            raise ValueRangeError("PlotReport draws PNG and SVG", expected=".png or .svg", got=repr(filename))
        self._y_keys = (y_keys,) if isinstance(y_keys, str) else tuple(y_keys)
        self._x_key = x_key
        self._means = IntervalMeans(trigger, self._y_keys)
        self._filename = filename
        self._title = title
        self._size = size
        self._points: dict[str, list[tuple[float, float]]] = {key: [] for key in self._y_keys}

    def __call__(self, trainer: "Trainer") -> None:
        entry = self._means(trainer)
        if entry is None:
            return
        x = float(trainer.updater.epoch_detail if self._x_key == "epoch" else entry[self._x_key])
        for key in self._y_keys:
            if key in entry:
                self._points[key].append((x, float(entry[key])))
        if any(self._points.values()):
            path = os.path.join(trainer.out, self._filename)
            write_or_warn(path, lambda: self._write(path))

    def _write(self, path: str) -> None:
        lines = [Line(*np.array(points).T, key) for key, points in self._points.items() if points]
        frame = {
            "title": self._title,
            "x_label": self._x_key.replace("_", " "),
            "x_range": axis_range(np.concatenate([line.x for line in lines])),
            "y_range": axis_range(np.concatenate([line.y for line in lines])),
            "size": self._size,
        }
        write_line_plot(path, lines, **frame)

    def state(self) -> dict[str, Any]:
        points = {key: [list(point) for point in points] for key, points in self._points.items()}
        return {"means": self._means.state(), "points": points}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._means.load_state(state["means"])
        self._points = {key: [tuple(map(float, p)) for p in state["points"].get(key, ())] for key in self._y_keys}
