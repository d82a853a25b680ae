"""A convolution and the batch normalization behind it as one convolution, where nothing is learned."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.frozen_batch_normalization import FrozenBatchNormalization
from cvzoo.links.connection.fused_convolution import fused_convolution
from cvzoo.links.link import Link


def can_fold(conv: Convolution2D, norm: Link) -> bool:
    """Whether `folded_convolution` may stand for norm(conv(x)) now: no gradients, and fixed statistics."""
    if switches.enable_backprop or conv.W._array is None:
        return False
    if isinstance(norm, FrozenBatchNormalization):
        return True
    return (
        isinstance(norm, BatchNormalization)
        and not switches.train
        and norm.avg_mean is not None
        and norm.gamma is not None
        and norm.beta is not None
    )


def folded_convolution(
    conv: Convolution2D,
    norm: Any,
    x: Any,
    *,
    add: Any = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> Variable:
    """activation(norm(conv(x)) + add), in one kernel.

    x: (B, in_channels, H, W)
    add, activation, alpha, beta: as in `fused_convolution_2d`
    """
    return fused_convolution(conv, x, norm=norm, add=add, activation=activation, alpha=alpha, beta=beta)
