"""A convolution and its relu, in one kernel where nothing is learned."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.functions.connection.fused_convolution_2d import fused_convolution_2d
from cvzoo.links.connection.convolution_2d import Convolution2D


def conv_relu(conv: Convolution2D, x: Any) -> Variable:
    """relu(conv(x)) (B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
    if switches.enable_backprop or not conv.W.is_initialized:
        return F.relu(conv(x))
    window = {"dilate": conv.dilate, "groups": conv.groups}
    return fused_convolution_2d(x, conv.W, conv.b, conv.stride, conv.pad, activation="relu", **window)
