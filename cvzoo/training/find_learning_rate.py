"""The learning rate range test: the loss at learning rates that rise from update to update."""

import copy
import dataclasses
import math
import os
from typing import TYPE_CHECKING

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.reporting.summary import DictSummary
from cvzoo.training.extensions.plot_report import write_figure
from cvzoo.training.random_states import load_random_states, random_states
from cvzoo.training.trainer import Trainer
from cvzoo.typing.aliases import Array, FilePath
from cvzoo.visualizations.svg.line_plot import Line, draw_lines, framed_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DIVERGED = 4.0  # times the lowest loss: the test ends


@dataclasses.dataclass(frozen=True, eq=False)
class LearningRateCurve:
    """The losses of a learning rate range test.

    lrs: (N,) float64, rising
    losses: (N,) float64, of the batches; the last one may be NaN or infinite
    smoothed: (N,) float64, their exponential moving mean without its bias
    suggestion: the learning rate at which the smoothed loss falls fastest, before its minimum; None if it never falls
    limit: the learning rate of the minimum: higher ones diverge
    """

    lrs: Array
    losses: Array
    smoothed: Array
    suggestion: float | None
    limit: float

    def write_plot(self, path: FilePath, *, size: tuple[int, int] = (300, 460)) -> None:
        """Plots the curves over the logarithm of the learning rate: .png, .svg or .pdf; warns if it cannot be written.

        Raises MissingExtraError without matplotlib.
        """

        def draw(figure: "Figure") -> None:
            x = np.log10(self.lrs)
            lines = [Line(x, self.losses, "batches"), Line(x, self.smoothed, "smoothed")]
            if self.suggestion is not None:
                span = np.array([np.nanmin(self.smoothed), np.nanmax(self.smoothed)])
                lines.append(Line(np.full(2, math.log10(self.suggestion)), span, None, is_guide=True))
            words = "no suggestion" if self.suggestion is None else f"suggestion: {self.suggestion:.2g}"
            ax = framed_axes(figure, title=f"loss, {words}", x_label="learning rate, log10")
            draw_lines(ax, lines)
            ax.set_ylim(*_shown(self.smoothed))

        write_figure(os.fspath(path), size, draw)


def find_learning_rate(
    trainer: Trainer,
    *,
    low: float = 1e-6,
    high: float = 1.0,
    n_iteration: int = 100,
    key: str = "main/loss",
    attr: str = "lr",
    smoothing: float = 0.9,
) -> LearningRateCurve:
    """A learning rate range test: updates with learning rates that rise exponentially from `low` to `high`.

    trainer: before `run`; its extensions are not called, and neither are learning rate schedules
    low, high: the first and the last learning rate
    n_iteration: the number of updates; the test ends earlier when the loss diverges
    key: the reported loss
    attr: the optimizer's hyperparameter
    smoothing: how much of the moving mean is kept, in [0, 1)

    Afterwards network, optimizer, iterators and random generators are as they were before, to the bit.
    Raises ValueRangeError for a setting out of range or if the loss is not reported, GraphError if a parameter of the
    network has no value yet.
    Source: Smith, "Cyclical Learning Rates for Training Neural Networks", 2017, section 3.3. Where we differ: the rate
    rises exponentially, and the suggestion is the steepest descent.
    """
    if not 0 < low < high or n_iteration < 10 or not 0 <= smoothing < 1:
        raise ValueRangeError(
            "find_learning_rate: a setting is out of range",
            expected="0 < low < high, n_iteration of at least 10, smoothing in [0, 1)",
            got=(low, high, n_iteration, smoothing),
        )
    updater, optimizer = trainer.updater, trainer.updater.get_optimizer("main")
    before = copy.deepcopy(updater.state()), random_states()
    lrs = np.geomspace(low, high, n_iteration)
    losses: list[float] = []
    smoothed: list[float] = []
    mean = 0.0
    try:
        for i, lr in enumerate(lrs.tolist()):
            setattr(optimizer, attr, lr)
            losses.append(_loss_of_update(trainer, key))
            mean = smoothing * mean + (1 - smoothing) * losses[-1]
            smoothed.append(mean / (1 - smoothing ** (i + 1)))
            if not math.isfinite(losses[-1]) or smoothed[-1] > _DIVERGED * min(smoothed):
                break
    finally:
        updater.load_state(before[0])
        load_random_states(before[1])
    return _curve(lrs[: len(losses)], np.array(losses), np.array(smoothed))


def _loss_of_update(trainer: Trainer, key: str) -> float:
    observation: dict[str, object] = {}
    with trainer.reporter.scope(observation), np.errstate(over="ignore", invalid="ignore"):
        trainer.updater.update()
    if key not in observation:
        raise ValueRangeError(f"find_learning_rate: {key!r} was not reported", expected=", ".join(sorted(observation)))
    summary = DictSummary()
    summary.add({key: observation[key]})
    return float(summary.compute_mean()[key])


def _curve(lrs: Array, losses: Array, smoothed: Array) -> LearningRateCurve:
    finite = np.where(np.isfinite(smoothed), smoothed, np.inf)
    lowest = int(finite.argmin())
    suggestion = None
    # the first means are of few batches; a slope needs two points
    start = min(len(lrs) // 10, max(lowest - 1, 0))
    if lowest - start >= 1:
        slope = np.diff(finite[start : lowest + 1])  # of equal steps of the logarithm
        if slope.min() < 0:
            suggestion = float(lrs[start + int(slope.argmin())])
    return LearningRateCurve(lrs, losses, smoothed, suggestion, float(lrs[lowest]))


def _shown(smoothed: Array) -> tuple[float, float]:
    """A range that the diverging end does not fill."""
    finite = smoothed[np.isfinite(smoothed)]
    low, first = (float(finite.min()), float(finite[0])) if len(finite) else (0.0, 1.0)
    margin = 0.1 * max(first - low, 1e-3 * abs(first), 1e-9)
    return low - margin, max(first, low) + 5 * margin
