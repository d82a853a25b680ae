"""Rows as columns of numbers: a log of 660,000 rows takes a tenth of the memory that its rows would take."""

import itertools
import math
import operator
from array import array
from collections.abc import Sequence
from typing import Any

from cvzoo.studio.jobs.rows import Row
from cvzoo.studio.jobs.run_record import number

X_KEYS = ("iteration", "epoch", "elapsed_time")


class _Column:
    """Numbers, of which those that were integers are integers again if all were."""

    def __init__(self) -> None:
        self.values = array("d")
        self._is_whole = True

    def extend(self, values: Sequence[float]) -> None:
        """Adds numbers; NaN is none."""
        if self._is_whole and set(map(type, values)) != {int}:
            self._is_whole = all(isinstance(value, int) for value in values if not math.isnan(value))
        self.values.extend(values)

    def at(self, i: int) -> float | None:
        """The number; None if there is none."""
        value = self.values[i]
        return None if math.isnan(value) else int(value) if self._is_whole else value


class _Values(_Column):
    """The finite values of a key in rows that have an iteration. rows: the index of each row; n_gap: other values"""

    def __init__(self) -> None:
        super().__init__()
        self.rows = array("L")
        self.n_gap = 0


class Columns:
    """The columns of a log, to which rows are added part by part."""

    def __init__(self) -> None:
        self._xs = {name: _Column() for name in X_KEYS}
        self._values: dict[str, _Values] = {}

    def add(self, rows: Sequence[Row]) -> None:
        """Adds rows."""
        start = len(self._xs["iteration"].values)
        xs = {name: _finite(_each(rows, name) or [row.get(name) for row in rows]) for name in X_KEYS}
        for name, column in self._xs.items():
            column.extend(xs[name][0])
        iterations, has_iterations = xs["iteration"]
        for key in dict.fromkeys(itertools.chain.from_iterable(rows)):
            if key in X_KEYS:
                continue
            given, having = _each(rows, key), list(range(start, start + len(rows)))
            if given is None:
                having = [start + i for i, row in enumerate(rows) if key in row]
                given = [row[key] for row in rows if key in row]
            values, are_finite = _finite(given)
            if not (are_finite and has_iterations):
                known = [not (math.isnan(y) or math.isnan(iterations[i - start])) for i, y in zip(having, values)]
                having, values = list(itertools.compress(having, known)), list(itertools.compress(values, known))
            found = self._values.setdefault(key, _Values())
            found.rows.extend(having)
            found.extend(values)
            found.n_gap += len(given) - len(values)

    @property
    def keys(self) -> list[str]:
        """The keys of values, in the order of their first rows."""
        return list(self._values)

    def points(self, key: str) -> tuple[Sequence[float], Sequence[float]]:
        """(iterations, values) of a key."""
        found, iterations = self._values[key], self._xs["iteration"].values
        is_in_each = len(found.rows) == len(iterations)
        return iterations if is_in_each else array("d", map(iterations.__getitem__, found.rows)), found.values

    def chosen(self, key: str, indices: Sequence[int]) -> dict[str, Any]:
        """ "n_gap", and "iteration", "epoch", "elapsed_time" and "value" at some of the points of a key."""
        found = self._values[key]
        rows = [found.rows[i] for i in indices]
        xs = {name: [column.at(row) for row in rows] for name, column in self._xs.items()}
        return {"n_gap": found.n_gap, **xs, "value": [found.at(i) for i in indices]}


def _each(rows: Sequence[Row], key: str) -> list[Any] | None:
    """The values of a key; None unless all rows have it."""
    try:
        return list(map(operator.itemgetter(key), rows))
    except KeyError:
        return None


def _finite(values: list[Any]) -> tuple[list[float], bool]:
    """(the values, NaN instead of those that are no finite numbers, whether there are none of these)."""
    if set(map(type, values)) <= {int, float} and all(map(math.isfinite, values)):
        return values, True
    return [math.nan if (found := number(value)) is None else found for value in values], False
