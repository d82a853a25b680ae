"""Values that fall off one end come in at the other."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.flip import roll

X = np.arange(24.0).reshape(2, 3, 4)
# shift, axis
CASES = [(1, 0), (-1, 2), (5, 1), (0, 1), ((1, -2), (0, 2)), ((2,), (-1,))]


@pytest.mark.parametrize(("shift", "axis"), CASES, ids=str)
def test_every_value_moves_by_the_shift(shift, axis, backend):
    want = np.empty_like(X)
    shifts = np.zeros(3, int)
    shifts[np.ravel(axis)] = np.ravel(shift)
    for place in np.ndindex(X.shape):
        want[tuple((place + shifts) % X.shape)] = X[place]
    np.testing.assert_array_equal(roll(X, shift, axis).array, want)
    check_backward(lambda x: roll(x, shift, axis), X)
    check_double_backward(lambda x: roll(x, shift, axis) ** 2, X)


def test_a_channels_last_map_stays_so():
    x = np.zeros((2, 5, 6, 3), np.float32).transpose(0, 3, 1, 2)
    assert roll(x, (1, 2), (2, 3)).array.strides == x.strides


@pytest.mark.parametrize(("shift", "axis"), [(1, 3), ((1, 2), (0,)), ((1, 2), (1, 1)), (1, -4)], ids=str)
def test_shifts_and_axes_that_do_not_fit_are_refused(shift, axis):
    with pytest.raises(ShapeError):
        roll(X, shift, axis)
