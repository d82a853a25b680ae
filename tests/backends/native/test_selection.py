"""Scores selected by our own kernels are those that NumPy selects."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.backends.detection import logit_below
from cvzoo.backends.native import selection
from cvzoo.backends.native.library import native
from cvzoo.backends.native.selection import best_of_parts_natively, softmax_above_natively
from cvzoo.backends.numpy import detection

pytestmark = pytest.mark.skipif(native() is None, reason="needs our library")


def by_numpy(function, *args):
    with pytest.MonkeyPatch.context() as patched:
        for name in ("softmax_above_natively", "best_of_parts_natively"):
            patched.setattr(detection, name, lambda *args: None)
        return function(*args)


def draw(seed, rows, n, spread):
    return (spread * np.random.default_rng(seed).standard_normal((rows, n))).astype(np.float32)


@given(
    seed=st.integers(0, 1000),
    rows=st.integers(0, 700),
    n=st.integers(2, 40),
    spread=st.sampled_from([0.0, 0.1, 3.0, 90.0]),
    above=st.sampled_from([0.0, 0.01, 0.05, 0.3, 0.99, 1.0]),
)
def test_probabilities_above_a_threshold_are_numpys(seed, rows, n, spread, above):
    conf = draw(seed, rows, n, spread)
    pair, score = softmax_above_natively(conf, above, logit_below(above))
    want_pair, want_score = by_numpy(detection._softmax_above, conf, above)
    both = np.intersect1d(pair, want_pair)
    # those that are at the threshold within their last bits may be on either side of it
    for pairs, scores in ((pair, score), (want_pair, want_score)):
        assert (np.diff(pairs) > 0).all()
        np.testing.assert_allclose(scores[~np.isin(pairs, both)], above, rtol=1e-6, atol=1e-38)
    np.testing.assert_allclose(score[np.isin(pair, both)], want_score[np.isin(want_pair, both)], rtol=1e-6, atol=1e-38)
    assert (pair.dtype, score.dtype) == (np.int64, np.float32)


def test_rows_with_nan_or_infinity_have_none():
    conf = np.zeros((4, 3), np.float32)
    conf[0, 1], conf[1, 0], conf[2, 2] = np.nan, np.nan, np.inf
    pair, score = softmax_above_natively(conf, 0.1, logit_below(0.1))
    np.testing.assert_array_equal(pair, [6, 7])
    np.testing.assert_allclose(score, 1 / 3, rtol=1e-6)


def test_probabilities_have_the_same_bits_in_any_number_of_threads_and_order_of_memory(monkeypatch):
    conf = draw(0, 5000, 21, 2)
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(selection, "threads_now", lambda threads=threads: (threads, ""))
        found.append(softmax_above_natively(conf, 0.02, logit_below(0.02)))
    found.append(softmax_above_natively(np.asfortranarray(conf), 0.02, logit_below(0.02)))
    assert len(found[0][0]) > 10_000
    for pair, score in found[1:]:
        np.testing.assert_array_equal(pair, found[0][0])
        np.testing.assert_array_equal(score, found[0][1])


@given(
    seed=st.integers(0, 1000),
    n=st.integers(0, 900),
    n_part=st.integers(1, 7),
    limit=st.integers(1, 60),
    values=st.sampled_from([2, 5, 1000]),
    order=st.sampled_from(["drawn", "ascending", "descending"]),
)
def test_the_best_of_each_part_are_numpys_of_equals_the_first(seed, n, n_part, limit, values, order):
    rng = np.random.default_rng(seed)
    score = (rng.integers(0, values, n) / values).astype(np.float32)
    score = score if order == "drawn" else np.sort(score)[:: 1 if order == "ascending" else -1]
    part = rng.integers(0, n_part, n)
    kept = best_of_parts_natively(score, part, n_part, limit)
    want = by_numpy(detection.best_of_parts, score, part, n_part, limit)
    np.testing.assert_array_equal(kept, np.arange(n) if isinstance(want, slice) else want)
