"""Columns of numbers have what the rows have."""

import bisect
import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.studio.jobs.columns import MAX_POINTS, X_KEYS, Columns
from cvzoo.studio.jobs.run_record import number

VALUES = [0, 1, 7, 0.5, -2.25, None, True, "x", [1], math.inf]


def expected(rows, key):
    """As rows, one by one."""
    having = [row for row in rows if key in row]
    known = [row for row in having if number(row[key]) is not None and number(row.get("iteration")) is not None]
    columns = {name: [number(row.get(name)) for row in known] for name in X_KEYS}
    return {"n_gap": len(having) - len(known), **columns, "value": [row[key] for row in known]}


@pytest.mark.parametrize("values", [VALUES, [0.5, 1.5], [1, 2, 3], [1e308]], ids=["any", "numbers", "integers", "huge"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_columns_have_what_the_rows_have(values, missing):
    rng = random.Random(0)
    keys = (*X_KEYS, "main/loss", "lr")
    rows = [{key: rng.choice(values) for key in keys if rng.random() >= missing} for _ in range(90)]
    columns = Columns()
    for start in range(0, 90, 40):
        columns.add(rows[start : start + 40])
    assert sorted(columns.keys) == ["lr", "main/loss"]
    for key in columns.keys:
        assert columns.series(key, 90) == expected(rows, key)


def test_integers_are_integers_again():
    columns = Columns()
    columns.add([{"iteration": 1, "epoch": None, "n": 3, "x": 0.5}, {"iteration": 2, "epoch": 1, "n": 4, "x": 2}])
    assert str(columns.series("n", 3)) == (
        "{'n_gap': 0, 'iteration': [1, 2], 'epoch': [None, 1], 'elapsed_time': [None, None], 'value': [3, 4]}"
    )
    assert str(columns.series("x", 3)["value"]) == "[0.5, 2.0]"


def test_a_key_without_a_finite_value_has_gaps_only():
    columns = Columns()
    columns.add([{"iteration": 1, "x": None}, {"iteration": None, "x": 2.0}])
    assert columns.series("x", 3) == {"n_gap": 2, **{name: [] for name in (*X_KEYS, "value")}}


def series_of(values, *lengths):
    """All points of a log with these values, whose rows came in parts of these lengths."""
    columns, ends = Columns(), [0, *itertools.accumulate(lengths), len(values)]
    for start, end in itertools.pairwise(ends):
        columns.add([{"iteration": i, "x": values[i]} for i in range(start, end)])
    return columns.series("x", len(values))


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=3, max_size=200), st.lists(st.integers(1, 20), max_size=20))
def test_what_is_kept_of_a_long_log_does_not_depend_on_its_parts(values, lengths):
    n = max((i for i in range(len(lengths) + 1) if sum(lengths[:i]) <= len(values)), default=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{Columns.__module__}.MAX_POINTS", 16)
        found = series_of(values, *lengths[:n])
        assert found == series_of(values) == series_of(values, *[1] * (len(values) - 1))
    assert [values[i] for i in found["iteration"]] == found["value"]
    assert found["iteration"] == sorted(set(found["iteration"]))
    assert (found["iteration"][0], found["iteration"][-1]) == (0, len(values) - 1)
    assert {min(values), max(values)} <= set(found["value"])


def test_of_each_part_of_a_long_log_the_extremes_are_kept():
    n = 10 * MAX_POINTS + 7
    rng = random.Random(1)
    values = [rng.random() for _ in range(n)]
    kept = series_of(values, *[1000] * (n // 1000))["iteration"]
    assert MAX_POINTS // 2 <= len(kept) <= MAX_POINTS + 32
    for start in range(0, n, 32):
        part = range(start, min(start + 32, n))
        assert {min(part, key=values.__getitem__), max(part, key=values.__getitem__)} <= set(
            kept[bisect.bisect_left(kept, start) : bisect.bisect_right(kept, part[-1])]
        )
