"""Statistics of parameters and gradients."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cvzoo.backends.arrays import to_numpy
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.link import Link
from cvzoo.reporting.reporter import report
from cvzoo.training.extension import PRIORITY_WRITER, AbstractExtension
from cvzoo.typing.aliases import Array, ArrayLike

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike

# of a normal distribution: -3, -2, -1, 0, 1, 2, 3 standard deviations
_PERCENTS = (0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87)
Statistic = Callable[[Array], ArrayLike]


def _zeros(x: np.ndarray) -> int:
    return x.size - int(np.count_nonzero(x))


def _percentile(x: np.ndarray) -> Array:
    return np.percentile(x, _PERCENTS)


DEFAULT_STATISTICS: Mapping[str, Statistic] = {
    "mean": np.mean,
    "std": np.std,
    "min": np.min,
    "max": np.max,
    "zeros": _zeros,
    "percentile": _percentile,
}


class ParameterStatistics(AbstractExtension):
    """Reports statistics of every parameter: "conv1/W/data/mean", "conv1/W/grad/std", "conv1/W/data/percentile/3".

    links: a link or several
    statistics: by name, functions of a flat float array that return a number, or an array, whose elements are numbered;
        by default mean, std, min, max, zeros (number of exact zeros), and the percentiles at -3 ... 3 standard
        deviations of a normal distribution
    report_params, report_grads: whether parameters and gradients are reported
    prefix: of every name, such as "main"
    trigger: when the statistics are computed, of the current values
    skip_nan_params: NaN for all statistics of an array that has a NaN, instead of the results of the functions

    Names begin with the link's own name, if it has one. Source: Chainer's extension of this name.
    """

    def __init__(
        self,
        links: Link | Sequence[Link],
        statistics: Mapping[str, Statistic] | None = None,
        *,
        report_params: bool = True,
        report_grads: bool = True,
        prefix: str | None = None,
        trigger: "TriggerLike" = (1, "epoch"),
        skip_nan_params: bool = False,
    ):
        if not (report_params or report_grads):
            raise ValueRangeError("ParameterStatistics: neither parameters nor gradients are to be reported")
        self._links = (links,) if isinstance(links, Link) else tuple(links)
        self._statistics = dict(DEFAULT_STATISTICS if statistics is None else statistics)
        self._report_params = report_params
        self._report_grads = report_grads
        self._prefix = (prefix or "").rstrip("/")
        self._skip_nan = skip_nan_params
        self.trigger = trigger
        self.priority = PRIORITY_WRITER

    def __call__(self, trainer: "Trainer") -> None:
        statistics: dict[str, float] = {}
        for link in self._links:
            for path, parameter in link.namedparams(include_uninit=False):
                name = "/".join(part for part in (self._prefix, link.name, path[1:]) if part)
                if self._report_params:
                    self._describe(f"{name}/data", parameter.array, statistics)
                if self._report_grads and parameter.grad is not None:
                    self._describe(f"{name}/grad", parameter.grad, statistics)
        report(statistics)

    def _describe(self, name: str, array: Array, statistics: dict[str, float]) -> None:
        flat = to_numpy(array).ravel()
        if not flat.size:
            return
        has_nan = self._skip_nan and bool(np.isnan(flat).any())
        for key, function in self._statistics.items():
            with np.errstate(invalid="ignore", over="ignore"):  # infinite values show in the statistics
                value = np.asarray(function(flat), np.float64)
            value = np.full(value.shape, np.nan) if has_nan else value
            if value.size > 1:
                statistics.update((f"{name}/{key}/{i}", float(each)) for i, each in enumerate(value.ravel()))
            else:
                statistics[f"{name}/{key}"] = float(value.reshape(()))
