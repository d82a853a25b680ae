"""Non-maximum suppression by our kernel keeps the boxes that NumPy's keeps, bit for bit the same overlaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.backends.native.library import native
from cvzoo.backends.native.suppression import kept_natively
from cvzoo.backends.numpy import suppression

pytestmark = pytest.mark.skipif(native() is None, reason="needs our library")


def by_numpy(bbox, thresh, limit):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(suppression, "kept_natively", lambda *args: None)
        return suppression.kept_rows(bbox, thresh, limit)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 1000),
    n=st.integers(0, 400),
    scale=st.sampled_from([1e-20, 1.0, 1000.0, 1e19, 1e38]),
    whole=st.booleans(),
    thresh=st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.5, 0.7, 1.0]),
    limit=st.sampled_from([None, 0, 1, 7, 100]),
)
def test_the_same_boxes_stay_whatever_their_sizes(seed, n, scale, whole, thresh, limit):
    rng = np.random.default_rng(seed)
    corner, side = rng.uniform(-5, 5, (n, 2)), rng.uniform(-0.5, 4, (n, 2))
    if whole:  # overlaps of exactly the threshold, equal, empty and inverted boxes
        corner, side = np.round(corner), np.round(side)
    bbox = (np.concatenate([corner, corner + side], axis=1) * scale).clip(-3e38, 3e38).astype(np.float32)
    kept = kept_natively(bbox, np.float32(thresh), limit)
    np.testing.assert_array_equal(kept, by_numpy(bbox, np.float32(thresh), limit))
    assert kept.dtype == np.int64


def test_rows_in_another_memory_order_are_the_same_boxes():
    rng = np.random.default_rng(0)
    bbox = np.concatenate([corner := rng.uniform(0, 9, (90, 2)), corner + 3], axis=1).astype(np.float32)
    want = kept_natively(bbox, np.float32(0.4), None)
    np.testing.assert_array_equal(kept_natively(np.asfortranarray(bbox), np.float32(0.4), None), want)
    assert 1 < len(want) < 90


def test_very_many_boxes_are_left_to_the_comparisons_of_sorted_ones():
    bbox = np.zeros((20_000, 4), np.float32)
    assert kept_natively(bbox, np.float32(0.5), None) is None


def test_a_limit_beyond_all_integers_of_64_bits_is_none():
    bbox = np.array([[0, 0, 2, 2], [0, 0, 2, 2], [5, 5, 6, 6]], np.float32)
    np.testing.assert_array_equal(kept_natively(bbox, np.float32(0.5), 1 << 64), [0, 2])
