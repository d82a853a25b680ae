"""Ranges and what bytes are made to mean."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.quantization.methods import METHODS
from cvzoo.links.quantization.watching import ValueRange


def seen(*arrays):
    values = ValueRange()
    for array in arrays:
        values.add(np.asarray(array, np.float32))
    return values


def test_a_range_grows_and_bytes_have_a_sign_if_a_value_had_one():
    values = seen([0, 1, 2])
    assert values.counting("minmax", 99) == (np.float32(2 / 255), False)
    values.add(np.array([-4, 1], np.float32))
    assert (values.low, values.high) == (-4, 2)
    assert values.counting("minmax", 99) == (np.float32(4 / 127), True)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_but_zeros_or_nothing_at_all_is_no_failure(method):
    for values in (seen(), seen([]), seen([0, 0]), seen([0], [0])):
        assert values.counting(method, 99.99).scale == 1
    assert not seen([]).has_values
    assert seen([0]).has_values


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_photos_does_not_matter(method):
    rng = np.random.default_rng(0)
    small, large = rng.normal(size=5000), 7 * rng.normal(size=5000)
    one, other = (seen(*pair).counting(method, 99.9) for pair in ((small, large), (large, small)))
    assert one.scale == pytest.approx(other.scale, rel=0.02)


def test_a_percentile_cuts_what_is_beyond():
    values = seen(np.arange(1, 10001))
    assert values.counting("percentile", 90.0).scale * 255 == pytest.approx(9000, rel=0.01)
    assert values.counting("percentile", 100.0).scale * 255 == pytest.approx(10000, rel=0.01)


@pytest.mark.parametrize("signed", [False, True])
def test_the_least_loss_is_less_than_that_of_any_other_cut(signed):
    rng = np.random.default_rng(1)
    x = rng.laplace(size=60_000).astype(np.float32)
    x = x if signed else np.abs(x)

    def loss(scale):
        low, high = (-128, 127) if signed else (0, 255)
        return np.square(np.clip(np.rint(x / scale), low, high) * scale - x).mean()

    scale = seen(x).counting("mse", 99).scale
    assert scale < seen(x).counting("minmax", 99).scale
    best = min(loss(np.float32(scale * factor)) for factor in (0.5, 0.7, 0.85, 1.2, 1.5, 2))
    assert loss(scale) < best


def test_values_that_are_not_finite_are_refused():
    for value in (np.nan, np.inf):
        with pytest.raises(ValueRangeError, match="not finite"):
            seen([1, value])
