"""Weights as bytes, and back."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.quantization.int8_kernel import float_weights, weight_bytes


def test_each_filter_has_its_own_steps():
    W = np.array([[1, -0.49, 0], [254, 2, -126], [0, 0, 0]], np.float32)
    filters, steps = weight_bytes(W)
    assert filters.dtype == np.int8
    assert filters.tolist() == [[127, -62, 0], [127, 1, -63], [0, 0, 0]]
    np.testing.assert_allclose(steps, [1 / 127, 2, 1], rtol=2e-5)
    np.testing.assert_allclose(float_weights(filters, steps), W, atol=1.01)


NUMBERS = st.floats(-(2.0**100), 2.0**100, width=32, allow_nan=False)


@hypothesis.given(
    arrays(
        np.float32,
        array_shapes(min_dims=2, max_dims=4),
        elements=NUMBERS,
    )
)
def test_what_bytes_mean_has_the_same_bytes_and_steps(W):
    filters, steps = weight_bytes(W)
    again = weight_bytes(float_weights(filters, steps))
    np.testing.assert_array_equal(again[0], filters)
    np.testing.assert_array_equal(again[1], steps)
    lost = np.abs(float_weights(filters, steps) - W.astype(np.float64)).reshape(len(W), -1).max(axis=1)
    assert (lost <= 0.501 * steps.astype(np.float64)).all()


def test_the_same_for_every_mantissa():
    W = np.arange(1 << 23, 1 << 24, 7, dtype=np.uint32).astype(np.float32)[:, None]
    filters, steps = weight_bytes(W)
    assert (filters == 127).all()
    again = weight_bytes(float_weights(filters, steps))
    np.testing.assert_array_equal(again[0], filters)
    np.testing.assert_array_equal(again[1], steps)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_are_refused(value):
    with pytest.raises(ValueRangeError, match="not finite"):
        weight_bytes(np.array([[1, value]], np.float32))
