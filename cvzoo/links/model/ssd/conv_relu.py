"""A convolution and its relu, in one kernel where nothing is learned."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import fused_convolution


def conv_relu(conv: Convolution2D, x: Any) -> Variable:
    """relu(conv(x)) (B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
    if switches.enable_backprop or not conv.W.is_initialized:
        return F.relu(conv(x))
    return fused_convolution(conv)(x, activation="relu")
