"""Backbone of ResNets of any depth and width (He et al., 2016), and its residual blocks."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.links.chain import Chain, ChainList, Sequential
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv, Norm, NormSettings
from cvzoo.links.connection.se_block import SEBlock
from cvzoo.links.link import Link
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
        self._shrinks = stride != 1
        with self.init_scope():
            self.conv1 = ConvNormActiv(in_channels, width, 1, first, **kind)
            self.conv2 = ConvNormActiv(width, width, 3, second, dilate=dilate, groups=groups, **kind)
            self.conv3 = ConvNormActiv(width, 4 * mid, 1, activ=None if se else relu, **kind)
            self.se = SEBlock(4 * mid, se) if se else None
            self.shortcut = _shortcut(in_channels, 4 * mid, stride, norm, eps)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, 4 * mid, H / stride, W / stride) of x (B, in_channels, H, W)."""
        if self._shrinks or self.shortcut is None:
            h = self.conv2(self.conv1(x))
            return _joined(self.conv3, self.se, h, x if self.shortcut is None else self.shortcut(x))
        # the largest result first, which then fits where the result of the stem was: 29 of 204 MB at 800x1088 pixels
        residual = self.shortcut(x)
        return _joined(self.conv3, self.se, self.conv2(self.conv1(x)), residual)


def _joined(last: ConvNormActiv, se: SEBlock | None, h: Variable | Array, residual: Variable | Array) -> Variable:
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


Stem = Literal["photo", "cifar", "deep"]
Pool = Literal["padded", "cover"]

# depth -> (block, blocks per stage); the paper has no depth of 10
DEPTHS: dict[int, tuple[type[BasicBlock] | type[Bottleneck], tuple[int, int, int, int]]] = {
    10: (BasicBlock, (1, 1, 1, 1)),
    18: (BasicBlock, (2, 2, 2, 2)),
    34: (BasicBlock, (3, 4, 6, 3)),
    50: (Bottleneck, (3, 4, 6, 3)),
    101: (Bottleneck, (3, 4, 23, 3)),
    152: (Bottleneck, (3, 8, 36, 3)),
}


class ResNetExtractor(Chain):
    """ResNet backbone (He et al., 2016): the feature maps C2 to C5, of strides 4, 8, 16 and 32.

    n_layer: 10, 18, 34, 50, 101 or 152
    base_channels: of the first convolution; 64 in the paper; stages have 1, 2, 4 and 8 times as many (times 4 from 50
        layers on)
    arch: "v1.5", or "he": which convolution of a bottleneck has the stride (see `Bottleneck`)
    stem: `"photo"`: 7 x 7 of stride 2 and a max pooling; "deep": three of 3 x 3 instead (conv1/0 to conv1/2), as in
        PSPNet; "cifar": one of 3 x 3 and stride 1, no pooling: strides are then 1, 2, 4 and 8
    pool: "padded": max pooling with one pixel of padding; "cover": without padding, the output size rounded up, as
        in Caffe
    dilations: of the four stages; a stage with a larger one than the previous has no stride: (1, 1, 2, 4) gives
        strides 4, 8, 8 and 8
    dilate_first: the first block of a stage has the stage's dilation already, as in PSPNet; else the dilation of the
        stage before, as in torchvision
    groups, base_width: of the 3 x 3 convolutions of bottlenecks: 32 and 4 in ResNeXt-50 32x4d; 1 and 128 in Wide
        ResNet-50-2
    se: reduction of squeeze-and-excitation, such as 16; 0 for none
    norm: "batch"; "frozen": batch normalization with fixed statistics, scale and shift; "group"
    eps: of the normalizations
    Raises ValueRangeError for an unknown depth, arch, stem, pool, dilations or norm, or groups without bottlenecks.

    `channels` are the maps' channels.
    Source: He et al., Deep Residual Learning for Image Recognition, CVPR 2016; v1.5 as in torchvision.
    Xie et al., Aggregated Residual Transformations for Deep Neural Networks, CVPR 2017; Zagoruyko and Komodakis, Wide
    Residual Networks, BMVC 2016; Hu et al., Squeeze-and-Excitation Networks, CVPR 2018.
    """

    def __init__(
        self,
        n_layer: int,
        *,
        base_channels: int = 64,
        arch: Arch = "v1.5",
        stem: Stem = "photo",
        pool: Pool = "padded",
        dilations: Sequence[int] = (1, 1, 1, 1),
        dilate_first: bool = False,
        groups: int = 1,
        base_width: int = 64,
        se: int = 0,
        norm: Norm = "batch",
        eps: float = 1e-5,
    ):
        for name, value, known in (
            ("n_layer", n_layer, tuple(DEPTHS)),
            ("arch", arch, ("v1.5", "he")),
            ("stem", stem, ("photo", "cifar", "deep")),
            ("pool", pool, ("padded", "cover")),
        ):
            if value not in known:
                raise ValueRangeError(
                    f"ResNet: {name} is not supported", expected=" or ".join(map(repr, known)), got=repr(value)
                )
        dilations = tuple(dilations)
        if len(dilations) != 4 or list(dilations) != sorted(dilations) or dilations[0] != 1:
            raise ValueRangeError(
                "ResNet: dilations are invalid", expected="four ascending integers, the first 1", got=dilations
            )
        block, counts = DEPTHS[n_layer]
        if (groups, base_width) != (1, 64) and block is BasicBlock:
            raise ValueRangeError(
                f"ResNet: {n_layer} layers have no groups", expected="groups=1, base_width=64", got=(groups, base_width)
            )
        if base_channels * base_width < 64:
            raise ValueRangeError("ResNet: base_width leaves no channel in a group", got=(base_channels, base_width))
        self.n_layer = n_layer
        self.stem = stem
        self.pool = pool
        mids = tuple(base_channels * 2**i for i in range(4))
        self.channels = tuple(mid * block.expansion for mid in mids)
        stages = []
        make = partial(block, arch=arch, groups=groups, base_width=base_width, se=se, norm=norm, eps=eps)
        with self.init_scope():
            self.conv1 = _stem(stem, base_channels, norm, eps)
            width = 2 * base_channels if stem == "deep" else base_channels
            before = 1
            for i, (mid, count, dilation) in enumerate(zip(mids, counts, dilations)):
                stage = ChainList()
                for k in range(count):
                    step = 2 if i and not k and dilation == before else 1
                    first = dilation if k or dilate_first else before
                    stage.append(make(width, mid, step, dilate=first, dilate_rest=dilation))
                    width = mid * block.expansion
                before = dilation
                stages.append(stage)
            self.res2, self.res3, self.res4, self.res5 = stages

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """conv1, pool1 (without a pooling with the stem "cifar"), res2, res3, res4, res5, as they are computed."""
        h = self.conv1(x)
        yield "conv1", h
        if self.stem != "cifar":
            padded = self.pool == "padded"
            h = F.max_pooling_2d(h, 3, 2, int(padded), cover_all=not padded)
        yield "pool1", h
        for name, stage in zip(("res2", "res3", "res4", "res5"), (self.res2, self.res3, self.res4, self.res5)):
            for residual in stage:
                h = residual(h)
            yield name, h

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable, Variable, Variable]:
        """C2, C3, C4, C5 (B, channels[i], H / stride, W / stride), sides rounded up, of x (B, 3, H, W)."""
        c2, c3, c4, c5 = (h for name, h in self.stages(x) if name.startswith("res"))
        return c2, c3, c4, c5


def _stem(stem: Stem, channels: int, norm: Norm, eps: float) -> ConvNormActiv | Sequential:
    if stem == "deep":
        wide = ((3, channels, 2), (channels, channels, 1), (channels, 2 * channels, 1))
        return Sequential(*(ConvNormActiv(n_in, n_out, 3, stride, norm=norm, eps=eps) for n_in, n_out, stride in wide))
    ksize, stride = (7, 2) if stem == "photo" else (3, 1)
    return ConvNormActiv(3, channels, ksize, stride, norm=norm, eps=eps)
