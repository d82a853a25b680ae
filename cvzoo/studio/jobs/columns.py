"""Curves of logs of any length: of a long one, the smallest and the largest value of each group of rows are kept.

Source: MinMaxLTTB: Leveraging MinMax-Preselection to Scale LTTB in Time Series Visualization, J. Van Der Donckt et al.,
2023. There the groups are those of a whole curve; here they grow with it, and do not depend on how its rows arrived.
"""

import itertools
import math
import operator
from array import array
from collections.abc import Sequence
from typing import Any

from cvzoo.studio.jobs.rows import Row
from cvzoo.studio.jobs.run_record import number
from cvzoo.studio.jobs.thin import thinned

X_KEYS = ("iteration", "epoch", "elapsed_time")
MAX_POINTS = 1 << 14  # of a curve that is longer, between half of them and all of them are kept; divisible by 4


class Columns:
    """The curves of a log, to which rows are added part by part."""

    def __init__(self) -> None:
        self._are_whole = [True] * len(X_KEYS)
        self._curves: dict[str, _Curve] = {}

    def add(self, rows: Sequence[Row]) -> None:
        """Adds rows."""
        given = [_each(rows, name) or [row.get(name) for row in rows] for name in X_KEYS]
        xs, _, are_whole = zip(*map(_numbers, given))
        self._are_whole = list(map(operator.and_, self._are_whole, are_whole))
        has_iterations = not any(map(math.isnan, xs[0]))
        for key in dict.fromkeys(itertools.chain.from_iterable(rows)):
            if key not in X_KEYS:
                self._curves.setdefault(key, _Curve()).add(*_with_values(rows, key, xs, has_iterations))

    @property
    def keys(self) -> list[str]:
        """The keys of values, in the order of their first rows."""
        return list(self._curves)

    def series(self, key: str, n_point: int) -> dict[str, Any]:
        """ "n_gap", and "iteration", "epoch", "elapsed_time" and "value" at n_point points of a key at most.

        The finite values in rows that have an iteration are points; n_gap is the number of the others.
        """
        curve = self._curves[key]
        points = curve.points()
        chosen = thinned(points[0], points[-1], n_point)
        names, are_whole = (*X_KEYS, "value"), (*self._are_whole, curve.is_whole)
        found = {
            name: [_number(column[i], is_whole) for i in chosen]
            for name, column, is_whole in zip(names, points, are_whole)
        }
        return {"n_gap": curve.n_gap, **found}


class _Curve:
    """Points: an iteration, an epoch, an elapsed time and a value each.

    n_gap: how many values are in none; is_whole: whether all that are in one are integers
    """

    def __init__(self) -> None:
        self.n_gap, self.is_whole = 0, True
        self._kept = _columns()  # two points of each group, or all
        self._rest: list[list[float]] = [[] for _ in self._kept]  # behind the last group that is complete
        self._ends: list[tuple[float, ...]] = []
        self._size = 1  # points in a group; 1: all are kept

    def add(self, columns: Sequence[Sequence[float]], n_gap: int, is_whole: bool) -> None:
        """Adds points behind the others."""
        self.n_gap += n_gap
        if not columns[-1]:
            return
        self.is_whole &= is_whole
        first, last = (tuple(column[i] for column in columns) for i in (0, -1))
        self._ends = [self._ends[0] if self._ends else first, last]
        for rest, column in zip(self._rest, columns):
            rest += column
        self._complete_groups()

    def points(self) -> list[Sequence[float]]:
        """The columns of the points, with the first and the last one."""
        if self._size == 1:
            return list(self._kept)
        first, last = self._ends
        begin = 0 if self._kept[0][0] == first[0] else 1
        end = 0 if self._rest[0] or self._kept[0][-1] == last[0] else 1
        parts = zip(first, self._kept, self._rest, last)
        return [[*[x] * begin, *kept, *rest, *[y] * end] for x, kept, rest, y in parts]

    def _complete_groups(self) -> None:
        start, n = 0, len(self._rest[-1])
        while n - start >= self._size:
            room = MAX_POINTS - len(self._kept[-1])
            n_group = min((n - start) // self._size, room if self._size == 1 else room // 2)
            stop = start + n_group * self._size
            self._keep(self._rest, start, stop, self._size)
            start = stop
            if len(self._kept[-1]) == MAX_POINTS:  # of two groups there is one, which has the extremes of both
                kept, self._kept = self._kept, _columns()
                self._keep(kept, 0, MAX_POINTS, 4)
                self._size = max(4, 2 * self._size)
        self._rest = [rest[start:] for rest in self._rest]

    def _keep(self, columns: Sequence[Sequence[float]], start: int, stop: int, size: int) -> None:
        chosen = range(start, stop) if size == 1 else _extremes(columns[-1], start, stop, size)
        for kept, column in zip(self._kept, columns):
            kept.extend([column[i] for i in chosen])


def _columns() -> list["array[float]"]:
    return [array("d") for _ in (*X_KEYS, "value")]


def _extremes(values: Sequence[float], start: int, stop: int, size: int) -> list[int]:
    """The indices of the smallest and the largest value of each group, ascending; of equal values the ends."""
    found = []
    for begin in range(start, stop, size):
        group = values[begin : begin + size]
        low, high = group.index(min(group)), group.index(max(group))
        found += [begin + min(low, high), begin + (max(low, high) if low != high else size - 1)]
    return found


def _with_values(
    rows: Sequence[Row], key: str, xs: Sequence[list[float]], has_iterations: bool
) -> tuple[list[list[float]], int, bool]:
    """What `_Curve.add` takes, of a key. xs: X_KEYS of all rows; has_iterations: whether each row has one"""
    given = _each(rows, key)
    if given is None:
        has_key = [key in row for row in rows]
        given = [row[key] for row in rows if key in row]
        xs = [list(itertools.compress(x, has_key)) for x in xs]
    values, are_finite, is_whole = _numbers(given)
    columns = [*xs, values]
    if not (are_finite and has_iterations):
        known = [not (math.isnan(y) or math.isnan(x)) for x, y in zip(xs[0], values)]
        columns = [list(itertools.compress(column, known)) for column in columns]
    return columns, len(values) - len(columns[-1]), is_whole


def _each(rows: Sequence[Row], key: str) -> list[Any] | None:
    """The values of a key; None unless all rows have it."""
    try:
        return list(map(operator.itemgetter(key), rows))
    except KeyError:
        return None


def _numbers(values: list[Any]) -> tuple[list[float], bool, bool]:
    """(the values, NaN instead of those that are no finite numbers, whether there are none, whether all are whole)."""
    types = set(map(type, values))
    if types <= {int, float} and math.isfinite(sum(values)):  # of finite ones it may not be, too
        return values, True, types <= {int}
    found = [math.nan if (each := number(value)) is None else each for value in values]
    return found, not any(map(math.isnan, found)), all(isinstance(each, int) or math.isnan(each) for each in found)


def _number(value: float, is_whole: bool) -> float | None:
    return None if math.isnan(value) else int(value) if is_whole else value
