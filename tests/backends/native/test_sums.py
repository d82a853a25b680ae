"""Sums by our own kernel, against float64, however an array lies; the same bits for any number of threads."""

import numpy as np
import pytest

from cvzoo.backends.native import sums
from cvzoo.backends.native.library import native, why_no_native

pytestmark = pytest.mark.skipif(native() is None, reason=f"no library: {why_no_native()}")

RNG = np.random.default_rng(0)


def numbers(*shape):
    return RNG.random(shape, np.float32) + np.float32(0.5)


def channels_last(x):
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


ARRAYS = {
    "one number": numbers(1),
    "a row": numbers(5000),
    "a long row": numbers(300_001),
    "a narrow matrix": numbers(10_007, 3),
    "a wide matrix": numbers(70, 1500),
    "an image": numbers(2, 5, 17, 19),
    "an image, channels-last": channels_last(numbers(2, 37, 40, 41)),
    "an image of few channels, channels-last": channels_last(numbers(3, 3, 64, 65)),
    "every second pixel": channels_last(numbers(2, 20, 33, 34))[:, :, ::2, ::2],
    "some channels": channels_last(numbers(2, 40, 20, 20))[:, 3:18],
    "turned around": numbers(4, 6, 30, 31)[:, ::-1, ::-1, ::-1],
    "the same again": np.broadcast_to(numbers(7, 1, 9), (7, 40, 9)),
    "six axes": numbers(3, 4, 5, 6, 7, 8).transpose(5, 1, 3, 0, 2, 4),
}


def all_axes(ndim):
    return [tuple(k for k in range(ndim) if bits >> k & 1) for bits in range(1, 2**ndim)]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ARRAYS)
def test_a_sum_is_within_two_roundings_of_float64s(name, keepdims):
    x = ARRAYS[name]
    for axes in all_axes(x.ndim):
        want = x.sum(axes, dtype=np.float64, keepdims=keepdims)
        got = sums.sum_natively(x, axes, keepdims=keepdims)
        assert got.dtype == np.float32
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1.8e-7, err_msg=str(axes))


@pytest.mark.parametrize("name", ARRAYS)
def test_the_bits_do_not_depend_on_the_number_of_threads(name, monkeypatch):
    x = ARRAYS[name]
    for axes in all_axes(x.ndim)[:8]:
        results = set()
        for count in (1, 2, 3):
            monkeypatch.setattr(sums, "threads_now", lambda count=count: (count, ""))
            results.add(sums.sum_natively(x, axes, keepdims=False).tobytes())
        assert len(results) == 1, axes


def test_the_result_lies_as_the_array_does():
    x = ARRAYS["an image, channels-last"]
    assert sums.sum_natively(x, (0,), keepdims=True).transpose(0, 2, 3, 1).flags.c_contiguous
    assert sums.sum_natively(x, (2,), keepdims=False).transpose(0, 2, 1).flags.c_contiguous


def test_infinity_and_nan_come_through():
    x = numbers(400, 33)
    x[7, 3], x[9, 4] = np.inf, np.nan
    got = sums.sum_natively(x, (0,), keepdims=False)
    assert got[3] == np.inf
    assert np.isnan(got[4])
    assert np.isfinite(np.delete(got, [3, 4])).all()


def test_an_array_it_cannot_address_is_left_to_numpy():
    record = np.zeros(100, [("a", np.int8), ("b", np.float32)])
    assert sums.sum_natively(record["b"], (0,), keepdims=False) is None


@pytest.mark.parametrize("name", ARRAYS)
def test_a_running_sum_is_float64s_rounded_once(name, monkeypatch):
    x = ARRAYS[name]
    for axis in range(x.ndim):
        results = set()
        for count in (1, 2, 3):
            monkeypatch.setattr(sums, "threads_now", lambda count=count: (count, ""))
            got = sums.running_sum_natively(x, axis)
            if got is None:
                assert name in {"every second pixel", "some channels", "turned around", "the same again"}
                continue
            np.testing.assert_allclose(got, x.cumsum(axis, dtype=np.float64), rtol=6.1e-8, err_msg=str(axis))
            assert got.strides == x.strides
            results.add(got.tobytes())
        assert len(results) <= 1


@pytest.mark.parametrize("n", [16, 19, 100, 275])
def test_few_columns_have_the_same_bits_in_rows_of_their_own_and_in_wider_ones(n):
    x = np.random.default_rng(n).random((n, 5, 64), np.float32)
    wide = sums.sum_natively(x, (0,), keepdims=False)
    assert sums.sum_natively(x[:, 1].copy(), (0,), keepdims=False).tobytes() == wide[1].tobytes()
