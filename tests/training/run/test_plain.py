"""Settings as JSON."""

import dataclasses
import enum
import functools
import json
import pathlib
from typing import NamedTuple

import numpy as np
import pytest

from cvzoo.training.run.plain import plain


class Kind(enum.Enum):
    """A choice."""

    ONE = 1


class Pair(NamedTuple):
    """Two."""

    a: int
    b: tuple


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Settings within settings."""

    lr: float
    kind: Kind
    inner: object


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    """Has no dictionary."""

    n: int


def function(x):
    """A function."""


CASES = [
    (Recipe(0.1, Kind.ONE, Slotted(3)), {"lr": 0.1, "kind": 1, "inner": {"n": 3}}),
    ({1: (2, 3), "a": {4}}, {"1": [2, 3], "a": [4]}),
    (Pair(1, (2,)), {"a": 1, "b": [2]}),
    (np.float32(0.5), 0.5),
    (np.arange(3), [0, 1, 2]),
    (pathlib.Path("runs/x"), "runs/x"),
    (float("nan"), "nan"),
    ([float("inf"), True, None, 1 << 70], ["inf", True, None, 1 << 70]),
    (function, "function"),
    (Recipe, "Recipe"),
    (functools.partial(function, 1), {"function": "function", "args": [1], "keywords": {}}),
    (1j, "1j"),
]


@pytest.mark.parametrize(("value", "expected"), CASES)
def test_settings_of_all_kinds_become_json(value, expected):
    assert plain(value) == expected
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == expected
