"""One step of a long short-term memory."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.rnn.lstm import lstm

random = np.random.default_rng(0)
CASES = {
    "as many": ((2, 3), (2, 12)),
    "shorter": ((3, 2), (1, 8)),
    "none left": ((2, 2), (0, 8)),
    "maps": ((2, 1, 3), (2, 4, 3)),
}


def _sigmoid(v):
    return 1 / (1 + np.exp(-v))


@pytest.mark.parametrize("case", CASES)
def test_step_and_derivatives(case, backend):
    c_prev, x = (random.normal(size=shape) for shape in CASES[case])
    c, h = lstm(c_prev, x)
    b = len(x)
    wanted = np.tanh(x[:, 0::4]) * _sigmoid(x[:, 1::4]) + c_prev[:b] * _sigmoid(x[:, 2::4])
    np.testing.assert_allclose(c.array[:b], wanted, rtol=1e-9)
    np.testing.assert_array_equal(c.array[b:], c_prev[b:])
    np.testing.assert_allclose(h.array, np.tanh(wanted) * _sigmoid(x[:, 3::4]), rtol=1e-9)
    check_backward(lstm, (c_prev, x))
    check_double_backward(lstm, (c_prev, x))


@pytest.mark.parametrize(
    "shapes", [((2, 3), (2, 11)), ((2, 3), (3, 12)), ((2, 3), (24,)), ((2, 3, 4), (2, 12))], ids=str
)
def test_bad_shapes_teach(shapes):
    with pytest.raises(ShapeError, match="an input and three gates"):
        lstm(np.zeros(shapes[0]), np.zeros(shapes[1]))
