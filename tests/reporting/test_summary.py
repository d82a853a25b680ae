"""Means and deviations against NumPy."""

import json
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import cvzoo
from cvzoo.reporting import DictSummary, Summary

numbers = st.floats(-1e6, 1e6)


@given(st.lists(numbers, min_size=1, max_size=30))
def test_statistics_are_numpys(values):
    summary = Summary()
    for value in values:
        summary.add(value)
    mean, std = summary.make_statistics()
    assert mean == pytest.approx(np.mean(values), rel=1e-9, abs=1e-6)
    assert std == pytest.approx(np.std(values), rel=1e-6, abs=1e-3)
    assert summary.compute_mean() == mean


@given(st.lists(st.tuples(numbers, st.integers(1, 9)), min_size=1, max_size=20))
def test_weights_count_as_often(pairs):
    weighted, repeated = Summary(), Summary()
    for value, weight in pairs:
        weighted.add(value, weight)
        for _ in range(weight):
            repeated.add(value)
    assert weighted.make_statistics() == pytest.approx(repeated.make_statistics(), rel=1e-6, abs=1e-2)


def test_large_numbers_that_differ_little_keep_their_deviation():
    summary = Summary()
    for value in (1e9, 1e9 + 1, 1e9 + 2):
        summary.add(value)
    assert summary.make_statistics()[1] == pytest.approx(math.sqrt(2 / 3))


def test_nothing_added_has_no_mean():
    assert math.isnan(Summary().compute_mean())
    assert all(math.isnan(value) for value in Summary().make_statistics())


def test_one_nan_makes_the_mean_nan():
    summary = Summary()
    summary.add(1.0)
    summary.add(math.nan)
    assert math.isnan(summary.compute_mean())
    assert math.isnan(summary.make_statistics()[1])


def test_what_is_no_number_is_passed_over():
    summary = DictSummary()
    summary.add({"a": 1, "text": "x", "none": None, "flag": True, "large": np.zeros(3), "zero_d": np.float32(2)})
    summary.add({"a": cvzoo.Variable(np.float32(3)), "one": np.array([5.0]), "pair": (4.0, 2), "zero_d": np.array(4)})
    assert summary.compute_mean() == {"a": 2, "zero_d": 3, "one": 5, "pair": 4}


def test_a_pair_is_a_value_and_its_weight():
    summary = DictSummary()
    summary.add({"a": (1.0, 3)})
    summary.add({"a": (5.0, 1)})
    assert summary.compute_mean() == {"a": 2}
    assert summary.make_statistics() == {"a": 2, "a.std": pytest.approx(math.sqrt(3))}


@given(st.lists(numbers, max_size=10), st.lists(numbers, max_size=10))
def test_a_state_goes_on_with_the_same_bits(before, after):
    straight, first, second = DictSummary(), DictSummary(), DictSummary()
    for value in before:
        straight.add({"x": value})
        first.add({"x": value})
    second.load_state(json.loads(json.dumps(first.state())))
    for value in after:
        straight.add({"x": value})
        second.add({"x": value})
    assert straight.make_statistics() == second.make_statistics()
