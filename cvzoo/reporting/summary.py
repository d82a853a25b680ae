"""Running means and standard deviations of values."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_array
from cvzoo.backends.float_types import is_float
from cvzoo.backends.transfer import deferred_number, read_numbers
from cvzoo.typing.aliases import Array

_MOST_WAITING = 256


class Summary:
    """Weighted running mean and standard deviation, in float64.

    Values on a GPU are copied to the host many at a time, so that adding one does not synchronize.

    Source: B. P. Welford, "Note on a method for calculating corrected sums of squares and products", 1962, with weights
    as in D. H. D. West, 1979. We differ from Chainer, whose sums of squares lose precision.
    """

    def __init__(self) -> None:
        self._n = 0.0
        self._mean = 0.0
        self._sum_sq = 0.0
        self._waiting: list[tuple[Array | float, float]] = []  # values on a GPU, with their weights

    def add(self, value: Any, weight: float = 1.0) -> None:
        """Add a number, or an array or Variable of one element."""
        value = value.array if isinstance(value, Variable) else value
        self._waiting.append((deferred_number(value), weight))  # copied on a GPU, since replays of graphs reuse memory
        if len(self._waiting) >= _MOST_WAITING:
            self._bring()

    def _bring(self) -> None:
        waiting, self._waiting = self._waiting, []
        for value, (_, weight) in zip(read_numbers([x for x, _ in waiting]), waiting):
            self._count(value, weight)

    def _count(self, value: float, weight: float) -> None:
        if weight <= 0:
            return
        self._n += weight
        step = value - self._mean
        self._mean += step * weight / self._n
        self._sum_sq += weight * step * (value - self._mean)

    def compute_mean(self) -> float:
        """The mean; NaN if nothing was added."""
        self._bring()
        return self._mean if self._n else math.nan

    def make_statistics(self) -> tuple[float, float]:
        """Mean and population standard deviation; NaN if nothing was added."""
        self._bring()
        if not self._n:
            return math.nan, math.nan
        return self._mean, math.sqrt(self._sum_sq / self._n) if self._sum_sq >= 0 else math.nan

    def state(self) -> dict[str, float]:
        """What `load_state` needs to go on."""
        self._bring()
        return {"n": self._n, "mean": self._mean, "sum_sq": self._sum_sq}

    def load_state(self, state: Mapping[str, float]) -> None:
        """Go on from a state."""
        self._waiting = []
        self._n, self._mean, self._sum_sq = float(state["n"]), float(state["mean"]), float(state["sum_sq"])


class DictSummary:
    """A Summary for every key of the added dictionaries. Values that are not scalars (text, larger arrays) are ignored;
    a value may be a pair (number, weight)."""

    def __init__(self) -> None:
        self._summaries: dict[str, Summary] = {}

    def add(self, values: Mapping[str, Any]) -> None:
        """Add the numbers of a dictionary."""
        for key, value in values.items():
            weight = 1.0
            if isinstance(value, tuple) and len(value) == 2:
                value, weight = value[0], _as_float(value[1])
            if _is_number(value):
                self._summaries.setdefault(key, Summary()).add(value, weight)

    def compute_mean(self) -> dict[str, float]:
        """Means by key."""
        return {key: summary.compute_mean() for key, summary in self._summaries.items()}

    def make_statistics(self) -> dict[str, float]:
        """Means by key, and standard deviations by "key.std"."""
        statistics = {}
        for key, summary in self._summaries.items():
            statistics[key], statistics[f"{key}.std"] = summary.make_statistics()
        return statistics

    def state(self) -> dict[str, dict[str, float]]:
        """What `load_state` needs to go on."""
        return {key: summary.state() for key, summary in self._summaries.items()}

    def load_state(self, state: Mapping[str, Mapping[str, float]]) -> None:
        """Go on from a state."""
        self._summaries = {}
        for key, each in state.items():
            self._summaries[key] = Summary()
            self._summaries[key].load_state(each)


def _is_number(value: object) -> bool:
    if isinstance(value, Variable):
        value = value.array
    if isinstance(value, bool | np.bool_ | str | bytes) or value is None:
        return False
    if isinstance(value, int | float | np.number):
        return True
    return is_array(value) and value.size == 1 and (value.dtype.kind in "iu" or is_float(value.dtype))


def _as_float(value: Variable | Array | float) -> float:
    if isinstance(value, Variable):
        value = value.array
    return float(value.reshape(())) if isinstance(value, np.ndarray) else float(value)
