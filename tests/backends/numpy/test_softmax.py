import numpy as np
import pytest

from cvzoo.backends.numpy.softmax import log_softmax, log_softmax_grad, softmax, softmax_grad


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_softmax_and_its_slope(axis):
    rng = np.random.default_rng(0)
    x, gy, d = (rng.standard_normal((4, 5, 3)) for _ in range(3))
    y = softmax(x, axis=axis)
    np.testing.assert_allclose(y, np.exp(x) / np.exp(x).sum(axis, keepdims=True))
    np.testing.assert_allclose(log_softmax(x, axis=axis), np.log(y), atol=1e-12)
    for function, grad in ((softmax, softmax_grad), (log_softmax, log_softmax_grad)):
        rise = (function(x + 1e-6 * d, axis=axis) - function(x - 1e-6 * d, axis=axis)) / 2e-6
        got = np.vdot(grad(gy, function(x, axis=axis), axis=axis), d)
        np.testing.assert_allclose(got, np.vdot(rise, gy), rtol=1e-6)


def test_huge_numbers_do_not_overflow():
    x = np.float32([[1e30, 0, -1e30]])
    np.testing.assert_array_equal(softmax(x, axis=1), [[1, 0, 0]])
    assert log_softmax(x, axis=1)[0, 0] == 0


def test_nothing_gives_nothing():
    assert softmax(np.zeros((0, 3)), axis=1).shape == (0, 3)
    assert log_softmax(np.zeros((3, 0)), axis=1).shape == (3, 0)
