"""Convolution channel by channel."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.connection.convolution_2d import convolution_2d
from cvzoo.functions.connection.depthwise_convolution_2d import depthwise_convolution_2d

random = np.random.default_rng(0)


@pytest.mark.parametrize("m", [1, 2])
def test_each_channel_has_filters_of_its_own(m, backend):
    x, W, b = random.normal(size=(2, 3, 5, 5)), random.normal(size=(m, 3, 3, 3)), random.normal(size=3 * m)
    y = depthwise_convolution_2d(x, W, b, stride=2, pad=1).array
    for c in range(3):
        for k in range(m):
            alone = convolution_2d(x[:, c : c + 1], W[k : k + 1, c : c + 1], stride=2, pad=1).array
            np.testing.assert_allclose(y[:, c * m + k], alone[:, 0] + b[c * m + k], rtol=1e-6)
    check_backward(lambda x, W, b: depthwise_convolution_2d(x, W, b, 2, 1), (x, W, b))
    check_double_backward(lambda x, W, b: depthwise_convolution_2d(x, W, b, 2, 1), (x, W, b))


def test_bad_calls_teach():
    with pytest.raises(ShapeError, match="each of x's channels"):
        depthwise_convolution_2d(np.zeros((1, 3, 5, 5)), np.zeros((1, 4, 3, 3)))
