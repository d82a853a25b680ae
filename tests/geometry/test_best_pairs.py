"""The best pairs are those that a full, stable sort finds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.best_pairs import best_pairs


def by_sorting(score, limit, above):
    flat = score.ravel()
    index = np.flatnonzero(flat > above)
    return index[np.argsort(-flat[index], kind="stable")][:limit]


@given(
    st.integers(0, 40),
    st.integers(1, 5),
    st.integers(1, 50),
    st.sampled_from([-math.inf, -1, 0, 2, math.inf]),
    st.integers(0, 10**6),
)
def test_it_finds_what_sorting_finds(n_row, n_column, limit, above, seed):
    rng = np.random.default_rng(seed)
    score = rng.integers(-3, 4, (n_row, n_column)).astype(np.float32)  # many ties
    score[rng.random(score.shape) < 0.1] = np.nan
    score[rng.random(score.shape) < 0.05] = -np.inf
    np.testing.assert_array_equal(best_pairs(score, limit, above=above), by_sorting(score, limit, above))


def test_a_million_scores():
    score = np.random.default_rng(0).standard_normal((20_000, 50), np.float32)
    np.testing.assert_array_equal(best_pairs(score, 1000, above=0.0), by_sorting(score, 1000, 0.0))


def test_bad_input_is_named():
    with pytest.raises(ShapeError, match="score"):
        best_pairs(np.zeros(3), 1)
    with pytest.raises(ValueRangeError, match="limit"):
        best_pairs(np.zeros((3, 1)), 0)
