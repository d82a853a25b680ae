"""Each pixel's channels are normalized, and a channels-last map is not copied for it."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.connection.layer_normalization import LayerNormalization2D

random = np.random.default_rng(4)


@pytest.mark.parametrize("backend", ["numpy", "onednn"])
@pytest.mark.parametrize("channels_last", [False, True])
def test_it_is_the_formula_in_either_order_of_memory(backend, channels_last):
    layer = LayerNormalization2D(8, eps=1e-3)
    layer.gamma.array, layer.beta.array = random.normal(size=(2, 8)).astype("f")
    x = random.normal(2, 3, size=(2, 8, 5, 4)).astype("f")
    if channels_last:
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    gamma, beta = layer.gamma.array[:, None, None], layer.beta.array[:, None, None]
    want = gamma * (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-3) + beta
    with using_config("backend", backend):
        y = layer(x).array
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-5)
    assert y.transpose(0, 2, 3, 1).flags.c_contiguous


def test_its_derivatives_are_those_of_the_formula():
    layer = LayerNormalization2D(4)
    x = random.normal(size=(2, 4, 2, 3))
    check_backward(layer, x, params=(layer.gamma, layer.beta), eps=1e-5)
    check_double_backward(layer, x, params=(layer.gamma, layer.beta), eps=1e-5)


def test_another_number_of_channels_is_refused():
    with pytest.raises(ShapeError):
        LayerNormalization2D(4)(np.zeros((1, 5, 2, 2), np.float32))
