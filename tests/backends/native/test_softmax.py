"""Softmax along long rows by our own kernel, against float64."""

import numpy as np
import pytest

from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.native.library import why_no_native
from cvzoo.backends.onednn.library import why_no_onednn

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
REFERENCE = get_backend("numpy")
FAST = REFERENCE if REASON else get_backend("onednn")


@pytest.mark.parametrize("n", [8193, 8200, 8256, 9999, 70_001])
def test_a_softmax_is_float64s(n):
    x = np.random.default_rng(n).random((3, n), np.float32)
    want = REFERENCE.softmax(x.astype(np.float64), axis=1)
    np.testing.assert_allclose(FAST.softmax(x, axis=1), want, rtol=4e-7)


def test_powers_of_all_sizes_keep_their_digits_and_those_too_small_are_zero():
    x = np.concatenate([np.zeros(1), -np.arange(8999) / 64]).astype(np.float32)[None]  # the differences are exact
    got, want = FAST.softmax(x, axis=1), REFERENCE.softmax(x.astype(np.float64), axis=1)
    normal = want > np.finfo(np.float32).tiny
    np.testing.assert_allclose(got[normal], want[normal], rtol=4e-7)
    np.testing.assert_allclose(got[~normal], want[~normal], rtol=0, atol=2e-45)
    assert got[0, -1] == 0


def test_infinities_and_nan_spoil_the_rows_that_they_spoil_in_numpy():
    x = np.random.default_rng(0).normal(size=(6, 8195)).astype(np.float32)
    x[0, 5] = x[1, -1] = np.nan
    x[2, 0], x[3, -1], x[4] = -np.inf, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        want = REFERENCE.softmax(x, axis=1)
    got = FAST.softmax(x, axis=1)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    assert np.isnan(got).all(axis=1).tolist() == [True, True, False, True, True, False]
    assert got[2, 0] == 0


def test_a_row_has_the_same_bits_alone_and_in_a_batch():
    x = np.random.default_rng(0).normal(size=(4, 3, 8197)).astype(np.float32)
    assert FAST.softmax(x[2:3], axis=2).tobytes() == FAST.softmax(x, axis=2)[2:3].tobytes()


def test_channels_of_pixels_are_rows():
    rows = np.random.default_rng(0).normal(size=(6, 8197)).astype(np.float32)
    x = rows.reshape(2, 1, 3, 8197).transpose(0, 3, 1, 2)
    got = FAST.softmax(x, axis=1).transpose(0, 2, 3, 1).reshape(6, 8197)
    np.testing.assert_array_equal(got, FAST.softmax(rows, axis=1))
