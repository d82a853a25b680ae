"""A convolution with the normalization that the network's maker chose."""

from typing import Any, Literal

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.folded_convolution import can_fold, folded_convolution
from cvzoo.links.connection.frozen_batch_normalization import FrozenBatchNormalization
from cvzoo.links.connection.group_normalization import GroupNormalization
from cvzoo.links.link import Link

Norm = Literal["batch", "frozen", "group"]
NORMS = ("batch", "frozen", "group")


def make_norm(norm: Norm, size: int, eps: float) -> Link:
    """A normalization of `size` channels: "batch" (trained), "frozen" (batch norm that stays) or "group".

    Groups are of at least 8 channels, and at most 32 in number. Raises ValueRangeError for another name.
    """
    if norm == "batch":
        return BatchNormalization(size, eps=eps)
    if norm == "frozen":
        return FrozenBatchNormalization(size, eps=eps)
    if norm == "group":
        groups = next(n for n in (32, 16, 8, 4, 2, 1) if size % n == 0 and (size // n >= 8 or n == 1))
        return GroupNormalization(groups, size, eps=eps)
    raise ValueRangeError("there is no such normalization", expected=" or ".join(map(repr, NORMS)), got=repr(norm))


class ConvNorm(Chain):
    """relu(bn(conv(x)) + residual); padded so that stride 1 keeps the size.

    norm, eps: as in `make_norm`
    activ: False leaves out the relu

    Where no gradients are taken it is one kernel.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        ksize: int,
        stride: int = 1,
        *,
        dilate: int = 1,
        groups: int = 1,
        norm: Norm = "batch",
        eps: float = 1e-5,
        activ: bool = True,
    ):
        self.activ = activ
        with self.init_scope():
            self.conv = Convolution2D(
                in_channels,
                out_channels,
                ksize,
                stride,
                ksize // 2 * dilate,
                nobias=True,
                initialW=HeNormal(1.0, "fan_out"),
                dilate=dilate,
                groups=groups,
            )
            self.bn = make_norm(norm, out_channels, eps)

    def forward(self, x: Any, residual: Any = None) -> Variable:
        """(B, out_channels, OH, OW) of x (B, in_channels, H, W); residual has the result's shape, or is None."""
        if can_fold(self.conv, self.bn):
            return folded_convolution(self.conv, self.bn, x, add=residual, activation="relu" if self.activ else None)
        h = self.bn(self.conv(x))
        h = h if residual is None else h + residual
        return relu(h) if self.activ else h
