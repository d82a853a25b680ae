"""Initializers fill as their descriptions say."""

import math

import numpy as np
import pytest

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.singa import initializer
from cvzoo.singa.tensor import Tensor

SHAPE = (60, 40, 3, 3)
IN, OUT = 40 * 9, 60 * 9


@pytest.mark.parametrize(
    ("fill", "deviation", "limit"),
    [
        (initializer.lecun_normal, math.sqrt(1 / IN), None),
        (initializer.he_normal, math.sqrt(2 / IN), None),
        (initializer.glorot_normal, math.sqrt(2 / (IN + OUT)), None),
        (initializer.lecun_uniform, math.sqrt(1 / IN), math.sqrt(3 / IN)),
        (initializer.he_uniform, math.sqrt(2 / IN), math.sqrt(6 / IN)),
        (initializer.glorot_uniform, math.sqrt(2 / (IN + OUT)), math.sqrt(6 / (IN + OUT))),
    ],
)
def test_deviations_and_limits(fill, deviation, limit):
    t = Tensor(SHAPE)
    fill(t)
    assert t.data.std() == pytest.approx(deviation, rel=0.03)
    assert abs(t.data.mean()) < deviation / 20
    if limit is not None:
        assert 0.99 * limit < np.abs(t.data).max() <= limit


def test_matrices():
    t = Tensor((100, 200))
    initializer.eye(t)
    np.testing.assert_array_equal(t.data, np.eye(100, 200))
    initializer.orthogonal(t, gain=2.0)
    np.testing.assert_allclose(t.data @ t.data.T, 4 * np.eye(100), atol=1e-4)
    for fill, deviation in (
        (initializer.xavier, math.sqrt(2 / 300)),
        (initializer.glorot, math.sqrt(2 / 300)),
        (initializer.msra, math.sqrt(2 / 100)),
        (lambda t: initializer.gaussian(t, 10, 20), math.sqrt(4 / 30)),
        (lambda t: initializer.gaussian(t, fan_out=20), math.sqrt(2 / 20)),
        (initializer.he_normal, math.sqrt(2 / 100)),
    ):
        fill(t)
        assert t.data.std() == pytest.approx(deviation, rel=0.03)
        assert abs(t.data.mean()) < deviation / 20


def test_what_cannot_be_filled_is_refused():
    for fill in (initializer.eye, initializer.orthogonal, initializer.xavier, initializer.glorot, initializer.msra):
        with pytest.raises(ShapeError):
            fill(Tensor(SHAPE))
    with pytest.raises(ValueRangeError):
        initializer.gaussian(Tensor(SHAPE))
