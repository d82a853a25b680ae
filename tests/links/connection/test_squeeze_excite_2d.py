"""Squeeze and excitation by convolutions of one pixel."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import check_backward
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.connection.fused_convolution import fused_activation, hard_gate
from cvzoo.links.connection.se_block import SEBlock, SqueezeExcite2D


def photo(dtype="float32"):
    return np.random.default_rng(0).normal(size=(2, 6, 3, 5)).astype(dtype)


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize(
    ("activ", "gate"), [(F.relu, F.sigmoid), (F.silu, F.sigmoid), (F.relu, hard_gate), (F.elu, F.tanh)]
)
def test_each_channel_has_its_gate_with_gradients_and_without(activ, gate, backend):
    link = SqueezeExcite2D(6, 4, activ=activ, gate=gate)
    x = photo()
    mean = x.mean((2, 3))
    hidden = activ(mean @ link.fc1.W.array[:, :, 0, 0].T + link.fc1.b.array).array
    gates = gate(hidden @ link.fc2.W.array[:, :, 0, 0].T + link.fc2.b.array).array
    with using_config("backend", backend):
        np.testing.assert_allclose(link(x).array, x * gates[:, :, None, None], rtol=1e-4, atol=1e-5)
        with no_backprop_mode():
            np.testing.assert_allclose(link(x).array, x * gates[:, :, None, None], rtol=1e-4, atol=1e-5)


def test_it_is_se_block_with_other_shapes():
    one, other = SqueezeExcite2D(6, 3), SEBlock(6, 2)
    for mine, its in ((one.fc1, other.down), (one.fc2, other.up)):
        its.W.array[...] = mine.W.array[:, :, 0, 0]
        its.b.array[...] = mine.b.array
    np.testing.assert_allclose(one(photo()).array, other(photo()).array, rtol=1e-5)


def test_gradients_reach_the_photo_and_both_layers():
    with using_config("dtype", "float64"):
        link = SqueezeExcite2D(6, 4, gate=hard_gate)
    x = photo("float64")
    for parameter in link.params():
        parameter.array = parameter.array.astype("float64")
    check_backward(link, x, params=tuple(link.params()), atol=1e-4, rtol=1e-3)


def test_other_channels_are_told():
    with pytest.raises(ShapeError):
        SqueezeExcite2D(5, 2)(photo())


def test_a_kernel_is_told_for_no_activation_and_none_for_an_unknown_one():
    assert fused_activation(None) == (None, 0.0, 0.0)
    assert fused_activation(F.relu6) == ("clip", 0.0, 6.0)
    assert fused_activation(F.elu) is None
