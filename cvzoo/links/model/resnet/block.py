"""The two kinds of residual blocks."""

from typing import Any, Literal

from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.model.resnet.norm import ConvNorm, Norm

Arch = Literal["v1.5", "he"]


class BasicBlock(Chain):
    """relu(conv2(conv1(x)) + shortcut(x)), two 3 x 3 convolutions of `mid` channels."""

    expansion = 1

    def __init__(
        self, in_channels: int, mid: int, stride: int = 1, *, arch: Arch = "v1.5", norm: Norm = "batch", eps: float
    ):
        with self.init_scope():
            self.conv1 = ConvNorm(in_channels, mid, 3, stride, norm=norm, eps=eps)
            self.conv2 = ConvNorm(mid, mid, 3, norm=norm, eps=eps)
            self.shortcut = _shortcut(in_channels, mid, stride, norm, eps)

    def forward(self, x: Any) -> Variable:
        """(B, mid, H / stride, W / stride) of x (B, in_channels, H, W)."""
        return self.conv2(self.conv1(x), x if self.shortcut is None else self.shortcut(x))


class Bottleneck(Chain):
    """relu(conv3(conv2(conv1(x))) + shortcut(x)): 1 x 1 to `mid` channels, 3 x 3, 1 x 1 to 4 * mid.

    arch: "v1.5": the 3 x 3 convolution has the stride; "he": the first 1 x 1, as in the paper
    """

    expansion = 4

    def __init__(
        self, in_channels: int, mid: int, stride: int = 1, *, arch: Arch = "v1.5", norm: Norm = "batch", eps: float
    ):
        first, second = (1, stride) if arch == "v1.5" else (stride, 1)
        with self.init_scope():
            self.conv1 = ConvNorm(in_channels, mid, 1, first, norm=norm, eps=eps)
            self.conv2 = ConvNorm(mid, mid, 3, second, norm=norm, eps=eps)
            self.conv3 = ConvNorm(mid, 4 * mid, 1, norm=norm, eps=eps)
            self.shortcut = _shortcut(in_channels, 4 * mid, stride, norm, eps)

    def forward(self, x: Any) -> Variable:
        """(B, 4 * mid, H / stride, W / stride) of x (B, in_channels, H, W)."""
        return self.conv3(self.conv2(self.conv1(x)), x if self.shortcut is None else self.shortcut(x))


def _shortcut(in_channels: int, out_channels: int, stride: int, norm: Norm, eps: float) -> ConvNorm | None:
    if stride == 1 and in_channels == out_channels:
        return None
    return ConvNorm(in_channels, out_channels, 1, stride, norm=norm, eps=eps, activ=False)
