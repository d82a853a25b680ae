"""Columns of numbers have what the rows have."""

import math
import random

import pytest

from cvzoo.studio.jobs.columns import X_KEYS, Columns
from cvzoo.studio.jobs.run_record import number

VALUES = [0, 1, 7, 0.5, -2.25, None, True, "x", [1], math.inf]


def expected(rows, key):
    """As rows, one by one."""
    having = [row for row in rows if key in row]
    known = [row for row in having if number(row[key]) is not None and number(row.get("iteration")) is not None]
    columns = {name: [number(row.get(name)) for row in known] for name in X_KEYS}
    return {"n_gap": len(having) - len(known), **columns, "value": [row[key] for row in known]}


@pytest.mark.parametrize("values", [VALUES, [0.5, 1.5], [1, 2, 3]], ids=["any", "numbers", "integers"])
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
        wanted = expected(rows, key)
        xs, ys = columns.points(key)
        assert list(xs) == wanted["iteration"]
        assert list(ys) == wanted["value"]
        assert columns.chosen(key, range(len(ys))) == wanted


def test_integers_are_integers_again():
    columns = Columns()
    columns.add([{"iteration": 1, "epoch": None, "n": 3, "x": 0.5}, {"iteration": 2, "epoch": 1, "n": 4, "x": 2}])
    assert str(columns.chosen("n", [0, 1])) == (
        "{'n_gap': 0, 'iteration': [1, 2], 'epoch': [None, 1], 'elapsed_time': [None, None], 'value': [3, 4]}"
    )
    assert str(columns.chosen("x", [1])["value"]) == "[2.0]"
