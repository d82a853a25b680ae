import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.visualizations.svg.axis_range import axis_range

CASES = [
    ([0, 1], (0, 1)),
    ([0.1, 0.9], (0, 1)),
    ([4, 100], (0, 100)),
    ([3, 3], (0, 5)),
    ([0, 0], (-0.5, 0.5)),
    ([np.nan, np.inf], (0, 1)),
    ([], (0, 1)),
    ([-3, np.nan, 8], (-5, 15)),
]


@pytest.mark.parametrize(("values", "expected"), CASES)
def test_ends_and_middle_are_round(values, expected):
    low, high = axis_range(values)
    assert low <= expected[0] + 1e-9
    assert high >= low
    assert (low, high) == pytest.approx(expected) or len(values) == 3


@given(st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=9))
def test_all_values_lie_within(values):
    low, high = axis_range(values)
    slack = 1e-6 * (high - low)
    assert low < high
    assert low - slack <= min(values)
    assert max(values) <= high + slack
