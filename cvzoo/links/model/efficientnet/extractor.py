"""EfficientNet backbone, and the widths and depths of its variants (Tan and Le, 2019 and 2021)."""

import math
from typing import NamedTuple, TypedDict

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv, round_channels
from cvzoo.links.model.inverted_residual import InvertedResidual
from cvzoo.typing.aliases import Array


class _NormSettings(TypedDict):
    eps: float
    decay: float


class Stage(NamedTuple):
    """Consecutive blocks.

    fused: whether a block is a `FusedInvertedResidual`, else an `InvertedResidual` with squeeze-and-excite
    factor: expansion factor of the channels
    ksize, stride: of the depthwise, or fused, convolution; only the first block has the stride
    out_channels, n_block: output channels, number of blocks
    """

    fused: bool
    factor: int
    ksize: int
    stride: int
    out_channels: int
    n_block: int


class Variant(NamedTuple):
    """A variant of the network.

    stem: channels of the first convolution
    stages: in order
    last: channels of the last convolution; None: 4 times its input's
    width, depth: multipliers of the channels and of the numbers of blocks, which are rounded
    dropout: of the pooled features
    eps, decay: of the batch normalizations
    """

    stem: int
    stages: tuple[Stage, ...]
    last: int | None
    width: float
    depth: float
    dropout: float
    eps: float
    decay: float


# Tan and Le (2019), table 1
_B = (
    Stage(False, 1, 3, 1, 16, 1),
    Stage(False, 6, 3, 2, 24, 2),
    Stage(False, 6, 5, 2, 40, 2),
    Stage(False, 6, 3, 2, 80, 3),
    Stage(False, 6, 5, 1, 112, 3),
    Stage(False, 6, 5, 2, 192, 4),
    Stage(False, 6, 3, 1, 320, 1),
)
# Tan and Le (2021), table 4, and the larger variants of the authors' code
_V2_S = (
    Stage(True, 1, 3, 1, 24, 2),
    Stage(True, 4, 3, 2, 48, 4),
    Stage(True, 4, 3, 2, 64, 4),
    Stage(False, 4, 3, 2, 128, 6),
    Stage(False, 6, 3, 1, 160, 9),
    Stage(False, 6, 3, 2, 256, 15),
)
_V2_M = (
    Stage(True, 1, 3, 1, 24, 3),
    Stage(True, 4, 3, 2, 48, 5),
    Stage(True, 4, 3, 2, 80, 5),
    Stage(False, 4, 3, 2, 160, 7),
    Stage(False, 6, 3, 1, 176, 14),
    Stage(False, 6, 3, 2, 304, 18),
    Stage(False, 6, 3, 1, 512, 5),
)
_V2_L = (
    Stage(True, 1, 3, 1, 32, 4),
    Stage(True, 4, 3, 2, 64, 7),
    Stage(True, 4, 3, 2, 96, 7),
    Stage(False, 4, 3, 2, 192, 10),
    Stage(False, 6, 3, 1, 224, 19),
    Stage(False, 6, 3, 2, 384, 25),
    Stage(False, 6, 3, 1, 640, 7),
)
# eps and decay are those of torchvision's files, which differ, since they were ported from different sources
VARIANTS = {
    "b0": Variant(32, _B, None, 1.0, 1.0, 0.2, 1e-5, 0.9),
    "b1": Variant(32, _B, None, 1.0, 1.1, 0.2, 1e-5, 0.9),
    "b2": Variant(32, _B, None, 1.1, 1.2, 0.3, 1e-5, 0.9),
    "b3": Variant(32, _B, None, 1.2, 1.4, 0.3, 1e-5, 0.9),
    "b4": Variant(32, _B, None, 1.4, 1.8, 0.4, 1e-5, 0.9),
    "b5": Variant(32, _B, None, 1.6, 2.2, 0.4, 1e-3, 0.99),
    "b6": Variant(32, _B, None, 1.8, 2.6, 0.5, 1e-3, 0.99),
    "b7": Variant(32, _B, None, 2.0, 3.1, 0.5, 1e-3, 0.99),
    "v2_s": Variant(24, _V2_S, 1280, 1.0, 1.0, 0.2, 1e-3, 0.9),
    "v2_m": Variant(24, _V2_M, 1280, 1.0, 1.0, 0.3, 1e-3, 0.9),
    "v2_l": Variant(32, _V2_L, 1280, 1.0, 1.0, 0.4, 1e-3, 0.9),
}


class EfficientNetDimensions(NamedTuple):
    """The channels and numbers of blocks of a variant."""

    stem: int
    stages: tuple[Stage, ...]
    last: int


def network_plan(variant: str, *, width: float | None = None, depth: float | None = None) -> EfficientNetDimensions:
    """The scaled channels and numbers of blocks of a variant.

    width, depth: instead of the variant's
    Raises ValueRangeError for an unknown variant, or a scale that is not positive.
    """
    if variant not in VARIANTS:
        raise ValueRangeError("EfficientNet: variant is unknown", expected=", ".join(VARIANTS), got=repr(variant))
    table = VARIANTS[variant]
    width = table.width if width is None else width
    depth = table.depth if depth is None else depth
    if not (0 < width < 100 and 0 < depth < 100):
        raise ValueRangeError("EfficientNet: width and depth must be positive and below 100", got=f"{width}, {depth}")
    stages = tuple(
        stage._replace(
            out_channels=round_channels(stage.out_channels * width), n_block=math.ceil(stage.n_block * depth)
        )
        for stage in table.stages
    )
    last = 4 * stages[-1].out_channels if table.last is None else round_channels(table.last * width)
    return EfficientNetDimensions(round_channels(table.stem * width), stages, last)


class FusedInvertedResidual(Chain):
    """project(expand(x)), plus x where the shapes allow: one full convolution instead of two.

    expanded: channels of `expand`; if it is in_channels, `expand` has out_channels and there is no `project`
    ksize, stride: of `expand`
    drop: stochastic depth: the probability that the block is skipped in training, where x is added

    Source: Tan and Le, EfficientNetV2, ICML 2021.
    """

    def __init__(
        self,
        in_channels: int,
        expanded: int,
        out_channels: int,
        ksize: int = 3,
        stride: int = 1,
        *,
        drop: float = 0.0,
        eps: float = 1e-3,
        decay: float = 0.9,
    ):
        self.has_shortcut = stride == 1 and in_channels == out_channels
        self.drop = drop
        one = expanded == in_channels
        common: _NormSettings = {"eps": eps, "decay": decay}
        with self.init_scope():
            self.expand = ConvNormActiv(
                in_channels, out_channels if one else expanded, ksize, stride, activ=F.silu, **common
            )
            self.project = None if one else ConvNormActiv(expanded, out_channels, 1, activ=None, **common)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, H / stride, W / stride), sides rounded up, of x (B, in_channels, H, W)."""
        h = self.expand(x)
        if self.has_shortcut and self.project is not None and not self.drop:
            return self.project(h, x)
        h = h if self.project is None else self.project(h)
        return F.stochastic_depth(h, self.drop) + x if self.has_shortcut else h


class EfficientNetExtractor(Chain):
    """EfficientNet backbone (Tan and Le, 2019): the outputs of its stem, stages and last convolution.

    variant: "b0" to "b7", "v2_s", "v2_m" or "v2_l"
    width, depth: as in `network_plan`
    drop: stochastic depth: the probability that the last block is skipped in training; it grows linearly from 0

    `channels` and `strides` are those of the outputs.
    Raises ValueRangeError for an unknown variant.
    Source: Tan and Le, EfficientNet, ICML 2019, and EfficientNetV2, ICML 2021. Where we differ: each variant's eps is
    that of torchvision's file.
    """

    def __init__(
        self, variant: str = "b0", *, width: float | None = None, depth: float | None = None, drop: float = 0.2
    ):
        plan = network_plan(variant, width=width, depth=depth)
        table = VARIANTS[variant]
        common: _NormSettings = {"eps": table.eps, "decay": table.decay}
        channels, strides = [plan.stem], [2]
        total, done = sum(stage.n_block for stage in plan.stages), 0
        with self.init_scope():
            self.stem = ConvNormActiv(3, plan.stem, 3, 2, activ=F.silu, **common)
            self.stages = ChainList()
            for row in plan.stages:
                stage, n_in = ChainList(), channels[-1]
                for i in range(row.n_block):
                    block = n_in, row.factor * n_in, row.out_channels, row.ksize, 1 if i else row.stride
                    # the probability rises linearly with depth
                    often = drop * done / total
                    if row.fused:
                        stage.append(FusedInvertedResidual(*block, drop=often, **common))
                    else:
                        # a quarter of the block's input, not of its expanded channels
                        squeezed = max(1, n_in // 4)
                        stage.append(
                            InvertedResidual(
                                *block, squeezed=squeezed, activ=F.silu, squeeze_activ=F.silu, drop=often, **common
                            )
                        )
                    n_in = row.out_channels
                    done += 1
                self.stages.append(stage)
                channels.append(n_in)
                strides.append(strides[-1] * row.stride)
            self.last = ConvNormActiv(channels[-1], plan.last, 1, activ=F.silu, **common)
        self.channels = (*channels, plan.last)
        self.strides = (*strides, strides[-1])

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """Each output (B, channels[i], H / strides[i], W / strides[i]), sides rounded up, for x (B, 3, H, W)."""
        maps = [self.stem(x)]
        for stage in self.stages:
            h = maps[-1]
            for block in stage.children():
                h = block(h)
            maps.append(h)
        return (*maps, self.last(maps[-1]))
