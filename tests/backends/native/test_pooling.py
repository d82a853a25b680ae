"""Means over windows by our own kernels, against float64."""

import numpy as np
import pytest

from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.native.library import why_no_native
from cvzoo.backends.onednn.library import why_no_onednn

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

CASES = {  # shape, window, step, padding
    "a whole map of one pixel too many": ((2, 37, 6, 7), (6, 7), (1, 1), (0, 0, 0, 0)),
    "a whole map": ((1, 300, 40, 41), (40, 41), (1, 1), (0, 0, 0, 0)),
    "a whole map of few channels": ((2, 3, 64, 65), (64, 65), (1, 1), (0, 0, 0, 0)),
    "tiles": ((2, 40, 24, 27), (8, 9), (8, 9), (0, 0, 0, 0)),
    "tiles with gaps, and pixels left over": ((2, 17, 29, 31), (5, 6), (7, 8), (0, 0, 0, 0)),
    "padding": ((3, 50, 20, 22), (7, 6), (7, 6), (2, 2, 1, 3)),
    "padding of wide rows of few channels": ((1, 20, 9, 700), (6, 6), (3, 3), (2, 1, 2, 3)),
    "7 x 7 of pixels as wide as many registers": ((2, 328, 14, 22), (7, 7), (7, 7), (0, 0, 0, 0)),
    "7 x 7 of pixels wider than a cache's line of rows": ((1, 1045, 8, 15), (7, 7), (7, 7), (0, 0, 0, 0)),
    "7 x 7 and padding": ((2, 36, 15, 22), (7, 7), (7, 8), (3, 3, 3, 3)),
    "wider than sixteen pixels": ((1, 20, 10, 78), (5, 37), (5, 38), (0, 0, 0, 0)),
    "of more channels than are added side by side": ((1, 4100, 6, 6), (6, 6), (6, 6), (1, 1, 1, 1)),
    "nothing but padding": ((1, 33, 9, 9), (5, 6), (9, 7), (7, 0, 8, 0)),
    "padding on three sides": ((1, 1030, 13, 14), (6, 8), (7, 9), (3, 0, 5, 2)),
}


@pytest.mark.parametrize("count_pad", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_mean_is_float64s(name, count_pad):
    shape, ksize, stride, pad = CASES[name]
    x = np.random.default_rng(0).random(shape, np.float32) + np.float32(0.5)
    window = {"ksize": ksize, "stride": stride, "pad": pad, "count_pad": count_pad}
    want = get_backend("numpy").average_pool_2d(x.astype(np.float64), **window)
    got = get_backend("onednn").average_pool_2d(x, **window)
    np.testing.assert_allclose(got, want, rtol=3e-7)


@pytest.mark.parametrize(("size", "ksize"), [((14, 14), (14, 14)), ((64, 65), (64, 65)), ((15, 22), (7, 7))])
def test_a_photos_mean_has_the_same_bits_alone_and_in_a_batch(size, ksize):
    x = np.random.default_rng(0).random((3, 40, *size), np.float32)
    window = {"ksize": ksize, "stride": ksize, "pad": (0, 0, 0, 0), "count_pad": False}
    pool = get_backend("onednn").average_pool_2d
    assert pool(x[1:2].copy(), **window).tobytes() == pool(x, **window)[1:2].tobytes()


@pytest.mark.parametrize("step", [2, 3, 6])
@pytest.mark.parametrize("c", [3, 20, 64])
def test_overlapping_and_separate_windows_keep_their_digits_where_the_mean_is_large(c, step):
    x = (np.random.default_rng(0).normal(size=(2, c, 31, 33)) + 1000).astype(np.float32)
    window = {"ksize": (6, 6), "stride": (step, step), "pad": (0, 0, 0, 0), "count_pad": False}
    want = get_backend("numpy").average_pool_2d(x.astype(np.float64), **window)
    np.testing.assert_allclose(get_backend("onednn").average_pool_2d(x, **window), want, rtol=4e-7)
