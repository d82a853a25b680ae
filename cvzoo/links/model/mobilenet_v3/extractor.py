"""MobileNetV3 backbone (Howard et al., 2019)."""

from typing import Literal, NamedTuple

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv, Norm, NormSettings, round_channels
from cvzoo.links.connection.fused_convolution import hard_gate
from cvzoo.links.link import Link
from cvzoo.links.model.inverted_residual import InvertedResidual
from cvzoo.typing.aliases import Array

Size = Literal["large", "small"]


class BlockRow(NamedTuple):
    """A block of MobileNetV3.
    ksize, stride, dilate: of its depthwise convolution
        expanded, out_channels: channels of the depthwise convolution and of the output
        excite: whether it has a squeeze-and-excite
        hard: whether the activation is hard swish, else ReLU
    """

    ksize: int
    expanded: int
    out_channels: int
    excite: bool
    hard: bool
    stride: int
    dilate: int = 1


class MobileNetV3Dimensions(NamedTuple):
    """An architecture: channels of the first convolution, the blocks, units of the classifier's hidden layer."""

    stem: int
    rows: tuple[BlockRow, ...]
    hidden: int


_LARGE = (
    BlockRow(3, 16, 16, False, False, 1),
    BlockRow(3, 64, 24, False, False, 2),
    BlockRow(3, 72, 24, False, False, 1),
    BlockRow(5, 72, 40, True, False, 2),
    BlockRow(5, 120, 40, True, False, 1),
    BlockRow(5, 120, 40, True, False, 1),
    BlockRow(3, 240, 80, False, True, 2),
    BlockRow(3, 200, 80, False, True, 1),
    BlockRow(3, 184, 80, False, True, 1),
    BlockRow(3, 184, 80, False, True, 1),
    BlockRow(3, 480, 112, True, True, 1),
    BlockRow(3, 672, 112, True, True, 1),
    BlockRow(5, 672, 160, True, True, 2),
    BlockRow(5, 960, 160, True, True, 1),
    BlockRow(5, 960, 160, True, True, 1),
)
_SMALL = (
    BlockRow(3, 16, 16, True, False, 2),
    BlockRow(3, 72, 24, False, False, 2),
    BlockRow(3, 88, 24, False, False, 1),
    BlockRow(5, 96, 40, True, True, 2),
    BlockRow(5, 240, 40, True, True, 1),
    BlockRow(5, 240, 40, True, True, 1),
    BlockRow(5, 120, 48, True, True, 1),
    BlockRow(5, 144, 48, True, True, 1),
    BlockRow(5, 288, 96, True, True, 2),
    BlockRow(5, 576, 96, True, True, 1),
    BlockRow(5, 576, 96, True, True, 1),
)
_HIDDEN = {"large": 1280, "small": 1024}
_TAIL = 3  # blocks of the last stage


def network_plan(
    size: Size, *, width: float = 1.0, reduced_tail: bool = False, dilated: bool = False
) -> MobileNetV3Dimensions:
    """The architecture of a size and width.

    width: multiplier of all channels
    reduced_tail: whether the last stage and the layers after it have half the channels, as in detectors
    dilated: whether the last stage has a dilation of 2 instead of a stride, for dense prediction
    Raises ValueRangeError for an unknown size or a width that is not positive.
    """
    if size not in _HIDDEN:
        raise ValueRangeError("MobileNetV3: size is unknown", expected="'large' or 'small'", got=repr(size))
    if not 0 < width < 100:
        raise ValueRangeError("MobileNetV3: width must be positive and below 100", got=width)
    part = 2 if reduced_tail else 1
    rows = []
    table = _LARGE if size == "large" else _SMALL
    for i, row in enumerate(table):
        tail = i - (len(table) - _TAIL)  # 0 for the first block of the last stage
        expanded = row.expanded // part if tail > 0 else row.expanded
        out_channels = row.out_channels // part if tail >= 0 else row.out_channels
        rows.append(
            row._replace(
                expanded=round_channels(expanded * width),
                out_channels=round_channels(out_channels * width),
                dilate=2 if dilated and tail >= 0 else 1,
            )
        )
    return MobileNetV3Dimensions(round_channels(16 * width), tuple(rows), round_channels(_HIDDEN[size] // part * width))


class MobileNetV3Extractor(Chain):
    """MobileNetV3 backbone (Howard et al., 2019): the outputs of its layers, as torchvision counts them (17 or 13).

    size: "large" or "small"
    width, reduced_tail, dilated: as in `network_plan`
    norm, eps: as in `make_norm`

    `stem` is layer 0, `blocks` are layers 1 and on, `last` is the last layer, a 1 x 1 convolution; `layers`
    holds all of them in order. `channels` and `strides` are those of the outputs. A layer's `expand` (stride of the
    layer before) can be computed separately: see `InvertedResidual.after_expand`.
    Raises ValueRangeError for an unknown size or norm.
    Source: Howard et al., Searching for MobileNetV3, ICCV 2019.
    """

    def __init__(
        self,
        size: Size = "large",
        *,
        width: float = 1.0,
        reduced_tail: bool = False,
        dilated: bool = False,
        norm: Norm = "batch",
        eps: float = 1e-3,
    ):
        plan = network_plan(size, width=width, reduced_tail=reduced_tail, dilated=dilated)
        common: NormSettings = {"norm": norm, "eps": eps, "decay": 0.99}
        channels, strides = [plan.stem], [2]
        with self.init_scope():
            self.stem = ConvNormActiv(3, plan.stem, 3, 2, activ=F.hard_swish, **common)
            self.blocks = ChainList()
            for row in plan.rows:
                self.blocks.append(
                    InvertedResidual(
                        channels[-1],
                        row.expanded,
                        row.out_channels,
                        row.ksize,
                        row.stride,
                        dilate=row.dilate,
                        squeezed=round_channels(row.expanded // 4) if row.excite else None,
                        activ=F.hard_swish if row.hard else F.relu,
                        gate=hard_gate,
                        **common,
                    )
                )
                channels.append(row.out_channels)
                strides.append(strides[-1] * (row.stride if row.dilate == 1 else 1))
            self.last = ConvNormActiv(channels[-1], 6 * channels[-1], 1, activ=F.hard_swish, **common)
        self.channels = (*channels, 6 * channels[-1])
        self.strides = (*strides, strides[-1])
        self.hidden = plan.hidden

    @property
    def layers(self) -> tuple[Link, ...]:
        """All layers, in order."""
        return (self.stem, *self.blocks, self.last)

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """Each layer's output (B, channels[i], H / strides[i], W / strides[i]), sides rounded up; x is (B, 3, H, W)."""
        h = as_variable(x)
        maps = []
        for layer in self.layers:
            h = layer(h)
            maps.append(h)
        return tuple(maps)
