"""Residual blocks of ResNet (He et al., 2016)."""

from typing import Any, Literal

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.links.chain import Chain
from cvzoo.links.connection.se_block import SEBlock
from cvzoo.links.link import Link
from cvzoo.links.model.conv_norm_activ import ConvNormActiv, Norm, NormSettings
from cvzoo.typing.aliases import Array

Arch = Literal["v1.5", "he"]


class BasicBlock(Chain):
    """Basic residual block relu(conv2(conv1(x)) + shortcut(x)): two 3 x 3 convolutions of `mid` channels.

    dilate: of the first convolution; the second has `dilate_rest`
    se: reduction of squeeze-and-excitation, 0 for none
    groups, base_width: as in `Bottleneck`, where they are 1 and 64 here
    """

    expansion = 1

    def __init__(
        self,
        in_channels: int,
        mid: int,
        stride: int = 1,
        *,
        arch: Arch = "v1.5",
        dilate: int = 1,
        dilate_rest: int = 1,
        groups: int = 1,
        base_width: int = 64,
        se: int = 0,
        norm: Norm = "batch",
        eps: float,
    ):
        kind: NormSettings = {"norm": norm, "eps": eps}
        with self.init_scope():
            self.conv1 = ConvNormActiv(in_channels, mid, 3, stride, dilate=dilate, **kind)
            self.conv2 = ConvNormActiv(mid, mid, 3, dilate=dilate_rest, activ=None if se else relu, **kind)
            self.se = SEBlock(mid, se) if se else None
            self.shortcut = _shortcut(in_channels, mid, stride, norm, eps)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, mid, H / stride, W / stride) of x (B, in_channels, H, W)."""
        return _joined(self.conv2, self.se, self.conv1(x), x if self.shortcut is None else self.shortcut(x))


class Bottleneck(Chain):
    """Bottleneck block relu(conv3(conv2(conv1(x))) + shortcut(x)): 1 x 1 to `mid` channels, 3 x 3, 1 x 1 to 4 * mid.

    arch: "v1.5": the 3 x 3 convolution has the stride; "he": the first 1 x 1, as in the paper
    dilate: of the 3 x 3 convolution
    dilate_rest: unused; for the second convolution of a `BasicBlock`
    groups, base_width: the 3 x 3 convolution has `groups` groups and mid * base_width / 64 channels per group
    se: reduction of squeeze-and-excitation, 0 for none
    """

    expansion = 4

    def __init__(
        self,
        in_channels: int,
        mid: int,
        stride: int = 1,
        *,
        arch: Arch = "v1.5",
        dilate: int = 1,
        dilate_rest: int = 1,
        groups: int = 1,
        base_width: int = 64,
        se: int = 0,
        norm: Norm = "batch",
        eps: float,
    ):
        first, second = (1, stride) if arch == "v1.5" else (stride, 1)
        width = mid * base_width // 64 * groups
        kind: NormSettings = {"norm": norm, "eps": eps}
        with self.init_scope():
            self.conv1 = ConvNormActiv(in_channels, width, 1, first, **kind)
            self.conv2 = ConvNormActiv(width, width, 3, second, dilate=dilate, groups=groups, **kind)
            self.conv3 = ConvNormActiv(width, 4 * mid, 1, activ=None if se else relu, **kind)
            self.se = SEBlock(4 * mid, se) if se else None
            self.shortcut = _shortcut(in_channels, 4 * mid, stride, norm, eps)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, 4 * mid, H / stride, W / stride) of x (B, in_channels, H, W)."""
        h = self.conv2(self.conv1(x))
        return _joined(self.conv3, self.se, h, x if self.shortcut is None else self.shortcut(x))


def _joined(last: ConvNormActiv, se: SEBlock | None, h: Any, residual: Any) -> Variable:
    return last(h, residual) if se is None else relu(se(last(h)) + residual)


def _shortcut(in_channels: int, out_channels: int, stride: int, norm: Norm, eps: float) -> ConvNormActiv | None:
    if stride == 1 and in_channels == out_channels:
        return None
    return ConvNormActiv(in_channels, out_channels, 1, stride, norm=norm, eps=eps, activ=None)


def zero_last_gamma(model: Link) -> int:
    """How many blocks there are. Each now gives relu(shortcut(x)): its last factors are 0, and learn from there.

    model: a link with residual blocks somewhere in it, such as a ResNet that is to be trained from random weights
    Raises ValueRangeError if there is no such block, or one is normalized by factors that do not learn.
    Source: Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 5.1.
    """
    n_block = 0
    for link in model.links():
        if isinstance(link, BasicBlock | Bottleneck):
            last = link.conv2 if isinstance(link, BasicBlock) else link.conv3
            gamma = getattr(last.bn, "gamma", None)
            if not isinstance(gamma, Parameter):
                raise ValueRangeError("zero_last_gamma: the factors would stay 0", expected='norm="batch" or "group"')
            gamma.array[...] = 0
            n_block += 1
    if not n_block:
        raise ValueRangeError(f"zero_last_gamma: {type(model).__name__} has no residual block")
    return n_block
