"""Layers that pad as TensorFlow does."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.mobilenet import ExpandedConv2D, TFConv2DBNActiv, TFConvolution2D

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("side", "ksize", "stride", "dilate", "pads"),
    [
        (5, 3, 1, 1, (1, 1)),
        (5, 3, 2, 1, (1, 1)),
        (6, 3, 2, 1, (0, 1)),  # an odd zero goes behind
        (6, 5, 2, 1, (1, 2)),
        (4, 1, 2, 1, (0, 0)),  # a window smaller than the stride needs none
        (7, 3, 1, 2, (2, 2)),
    ],
)
def test_same_pads_to_a_side_divided_by_the_stride_and_rounded_up(side, ksize, stride, dilate, pads):
    x = RNG.normal(size=(1, 2, side, side)).astype(np.float32)
    link = TFConvolution2D(2, 3, ksize, stride, dilate=dilate)
    y = link(x)
    assert y.shape[2:] == (-(-side // stride),) * 2
    padded = np.pad(x, ((0, 0), (0, 0), pads, pads))
    want = F.convolution_2d(padded, link.W, link.b, stride, dilate=dilate)
    np.testing.assert_allclose(y.array, want.array, rtol=1e-5, atol=1e-6)


def test_valid_pads_nothing_and_numbers_are_those_of_a_convolution():
    x = RNG.normal(size=(1, 2, 6, 6)).astype(np.float32)
    assert TFConvolution2D(2, 3, 3, pad="VALID")(x).shape == (1, 3, 4, 4)
    assert TFConvolution2D(2, 3, 3, pad=2)(x).shape == (1, 3, 8, 8)
    assert TFConvolution2D(3, 3, nobias=True)(x).shape == (1, 3, 6, 6)  # out_channels, ksize
    with pytest.raises(ValueRangeError, match="pad"):
        TFConvolution2D(2, 3, 3, pad="FULL")


def test_a_block_expands_and_projects_and_adds_what_it_was_given():
    x = RNG.normal(size=(2, 4, 6, 6)).astype(np.float32)
    block = ExpandedConv2D(4, 4, bn_eps=1e-3)
    assert block.expand.conv.W.shape == (24, 4, 1, 1)
    assert block.depthwise.conv.W.shape == (24, 1, 3, 3)
    block.project.bn.gamma.array[...] = 0
    np.testing.assert_array_equal(block(x).array, x)
    assert ExpandedConv2D(4, 8, 4, depthwise_stride=2).expand is None
    assert ExpandedConv2D(4, 8, lambda num_inputs: 3 * num_inputs, depthwise_stride=2)(x).shape == (2, 8, 3, 3)


def test_a_block_of_convolution_normalization_and_activation():
    x = RNG.normal(size=(2, 4, 5, 5)).astype(np.float32)
    assert (TFConv2DBNActiv(6, 3, stride=2)(x).array >= 0).all()
    assert (TFConv2DBNActiv(4, 6, 3, activ=None)(x).array < 0).any()
