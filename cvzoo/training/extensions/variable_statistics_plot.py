"""Plots of the statistics of variables and their gradients during training."""

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import to_numpy
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.reporting.plot_figure import COLORS
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.extensions.plot_report import plot_name, write_figure
from cvzoo.training.triggers.get_trigger import get_trigger
from cvzoo.typing.aliases import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike

# of a normal distribution: the least, -3, -2, -1, 0, 1, 2, 3 standard deviations, the greatest
PERCENTILES = (0, 0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87, 100)


class VariableStatisticsPlot(AbstractExtension):
    """Plots mean, standard deviation and percentiles of variables and their gradients over the iterations.

    targets: a Variable or several, such as parameters; the statistics are over the values of all
    max_sample_size: maximum number of iterations that are shown, evenly spaced in a longer run
    report_data, report_grad: which of the two are shown, side by side
    plot_mean, plot_std: the mean, and the band of a standard deviation around it
    percentile_sigmas: percentiles in [0, 100], shown as bands from the outermost pair inward; None or (): none
    trigger: when the file is written
    filename: in the trainer's folder, by default statistics.png; the suffix is the format: .png, .svg or .pdf
    figsize: (width, height) in inches of 72 pixels, or None; marker, grid: as in `PlotReport`
    file_name: alias of filename
    Raises ValueRangeError if nothing is to be shown or for an unknown suffix, MissingExtraError without matplotlib.
    Source: Chainer's extension of this name. Where we differ: of many iterations, evenly spaced ones are kept instead
        of random ones, so that a resumed run has the same plot.
    """

    def __init__(
        self,
        targets: Variable | Sequence[Variable],
        max_sample_size: int = 1000,
        report_data: bool = True,
        report_grad: bool = True,
        plot_mean: bool = True,
        plot_std: bool = True,
        percentile_sigmas: Sequence[float] | None = PERCENTILES,
        trigger: "TriggerLike" = (1, "epoch"),
        filename: str | None = None,
        figsize: tuple[float, float] | None = None,
        marker: str | None = None,
        grid: bool = True,
        *,
        file_name: str | None = None,
    ):
        self._variables = (targets,) if isinstance(targets, Variable) else tuple(targets)
        self._keys = tuple(key for key, wanted in (("data", report_data), ("grad", report_grad)) if wanted)
        self._percentiles = tuple(sorted(percentile_sigmas or ()))
        self._rows = tuple(
            row for row, wanted in (("moments", plot_mean or plot_std), ("percentiles", self._percentiles)) if wanted
        )
        if not (self._variables and self._keys and self._rows):
            raise ValueRangeError("VariableStatisticsPlot: nothing is to be plotted")
        if max_sample_size < 2:
            raise ValueRangeError("VariableStatisticsPlot: max_sample_size must be 2 or more", got=max_sample_size)
        self._plot_mean, self._plot_std = plot_mean, plot_std
        self._max_sample_size = max_sample_size
        self._plot_trigger = get_trigger(trigger)
        self._filename = plot_name("VariableStatisticsPlot", filename, file_name, "statistics.png")
        width, height = figsize or (6.0 * len(self._keys), 4.2 * len(self._rows))
        self._size = round(72 * height), round(72 * width)
        self._marker = marker
        self._grid = grid
        self._step = 1  # interval of the kept iterations
        self._iterations: list[int] = []
        self._samples: list[Array] = []  # (K, S): keys, and mean, std and percentiles

    @staticmethod
    def available() -> bool:
        """Whether matplotlib is installed."""
        return find_spec("matplotlib") is not None

    def __call__(self, trainer: "Trainer") -> None:
        iteration = trainer.updater.iteration
        if iteration % self._step == 0:
            self._iterations.append(iteration)
            self._samples.append(np.stack([self._statistics(key) for key in self._keys]))
        if len(self._samples) > self._max_sample_size:
            self._step *= 2
            kept = [k for k, each in enumerate(self._iterations) if each % self._step == 0]
            self._iterations = [self._iterations[k] for k in kept]
            self._samples = [self._samples[k] for k in kept]
        if not trainer.is_before_training and self._plot_trigger(trainer) and self._samples:
            write_figure(os.path.join(trainer.out, self._filename), self._size, self._draw)

    def _statistics(self, key: str) -> Array:
        """Mean, standard deviation and percentiles; NaN without values."""
        arrays = [each.array if key == "data" else each.grad for each in self._variables]
        values = [to_numpy(array).ravel().astype(np.float64) for array in arrays if array is not None]
        flat = np.concatenate(values) if values else np.zeros(0)
        if not flat.size:
            return np.full(2 + len(self._percentiles), np.nan)
        with np.errstate(invalid="ignore", over="ignore"):  # infinite values show in the plot
            return np.array([flat.mean(), flat.std(), *np.percentile(flat, self._percentiles)])

    def _draw(self, figure: "Figure") -> None:
        grid = figure.subplots(len(self._rows), len(self._keys), squeeze=False, sharex=True)
        figure.subplots_adjust(left=0.1, right=0.97, bottom=0.12, top=0.92, wspace=0.25)
        samples = np.stack(self._samples)  # (N, K, S)
        for row, axes in zip(self._rows, grid):
            for k, ax in enumerate(axes):
                draw = self._draw_moments if row == "moments" else self._draw_percentiles
                draw(ax, samples[:, k])
                ax.set_title(f"{self._keys[k]}: {'mean and deviation' if row == 'moments' else row}")
                ax.grid(visible=self._grid)
        for ax in grid[-1]:
            ax.set_xlabel("iteration")

    def _draw_moments(self, ax: "Axes", samples: np.ndarray) -> None:
        mean, std = samples[:, 0], samples[:, 1]
        if self._plot_std:
            ax.fill_between(self._iterations, mean - std, mean + std, color=COLORS[0], alpha=0.25, linewidth=0)
        if self._plot_mean:
            ax.plot(self._iterations, mean, color=COLORS[0], marker=self._marker)

    def _draw_percentiles(self, ax: "Axes", samples: np.ndarray) -> None:
        bounds = samples[:, 2:].T
        for low, high in zip(bounds[: len(bounds) // 2], bounds[::-1]):
            ax.fill_between(self._iterations, low, high, color=COLORS[0], alpha=0.18, linewidth=0)
        if len(bounds) % 2:
            ax.plot(self._iterations, bounds[len(bounds) // 2], color=COLORS[0], marker=self._marker)

    def state(self) -> dict[str, Any]:
        return {
            "trigger": self._plot_trigger.state(),
            "step": self._step,
            "iterations": list(self._iterations),
            "samples": [sample.tolist() for sample in self._samples],
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._plot_trigger.load_state(state["trigger"])
        self._step = int(state["step"])
        self._iterations = [int(each) for each in state["iterations"]]
        self._samples = [np.array(each, np.float64) for each in state["samples"]]
