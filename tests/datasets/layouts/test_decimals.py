"""Reckoning as with a pencil: what was written comes back, digit by digit."""

import decimal
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.datasets.layouts.decimals import exact, from_center, minus, number_text, plus, times, to_center

PIXELS = st.integers(0, 4_000_000).map(lambda value: value / 1000)  # three decimals, as annotation tools write


@given(PIXELS, PIXELS)
def test_a_corner_and_a_size_come_back(x, width):
    assert minus(plus(x, width), x) == width


@given(PIXELS, PIXELS, st.integers(1, 9000))
def test_pixels_come_back_from_fractions(start, length, whole):
    end = plus(start, length)
    center, size = to_center(start, end, whole)
    assert from_center(float(center), float(size), whole) == (start, end)


@given(st.integers(0, 1_000_000), st.integers(0, 1_000_000), st.integers(1, 9000))
def test_fractions_of_six_decimals_come_back_from_pixels(center, length, whole):
    center, length = center / 1e6, length / 1e6
    start, end = from_center(center, length, whole)
    assert tuple(map(float, to_center(start, end, whole))) == (center, length)


def test_decimals_are_no_binary_fractions():
    assert plus(0.1, 0.2) == 0.3
    assert minus(471.62, 359.17) == 112.45
    assert times(0.1, 3) == 0.3
    assert str(exact(0.1)) == "0.1"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_does_not_stop_the_reckoning(value):
    assert not math.isfinite(plus(value, 1.0))
    assert not math.isfinite(minus(1.0, value))
    assert all(map(math.isnan, from_center(value, 0.5, 10)))
    assert not math.isfinite(times(value, 3))
    assert number_text(value) == str(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(12.0, "12"), (12.5, "12.5"), (1e-5, "0.00001"), (0, "0"), (-0.5, "-0.5"), (1e20, "1" + "0" * 20)],
)
def test_numbers_are_written_as_people_write_them(value, text):
    assert number_text(value) == text


NUMBERS = st.one_of(
    st.floats(-2e8, 2e8), PIXELS, st.integers(-(10**14), 10**14).map(lambda value: value / 1e6), st.just(-0.0)
)


@given(NUMBERS, NUMBERS)
def test_a_sum_and_a_difference_are_those_of_the_written_numbers(a, b):
    context = decimal.Context(prec=40)
    assert repr(plus(a, b)) == repr(float(context.add(exact(a), exact(b))))
    assert repr(minus(a, b)) == repr(float(context.subtract(exact(a), exact(b))))
