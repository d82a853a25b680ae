"""MobileNetV2 backbone (Sandler et al., 2018)."""

from typing import Literal, NamedTuple

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv, Norm, NormSettings, round_channels
from cvzoo.links.link import Link
from cvzoo.links.model.inverted_residual import InvertedResidual
from cvzoo.typing.aliases import Array

Arch = Literal["torchvision", "tf"]


class BlockRow(NamedTuple):
    """A block: expansion factor, output channels, stride."""

    factor: int
    out_channels: int
    stride: int


class Stage(NamedTuple):
    """Consecutive blocks, the first of which has the stride."""

    factor: int
    out_channels: int
    n_block: int
    stride: int


# the paper's table 2
STAGES = (
    Stage(1, 16, 1, 1),
    Stage(6, 24, 2, 2),
    Stage(6, 32, 3, 2),
    Stage(6, 64, 4, 2),
    Stage(6, 96, 3, 1),
    Stage(6, 160, 3, 2),
    Stage(6, 320, 1, 1),
)
ROWS = tuple(
    BlockRow(stage.factor, stage.out_channels, 1 if i else stage.stride)
    for stage in STAGES
    for i in range(stage.n_block)
)


class MobileNetV2Extractor(Chain):
    """MobileNetV2 backbone (Sandler et al., 2018): the outputs of its 19 layers, as torchvision counts them.

    width: multiplier of all channels; the last layer has at least 1280
    arch: "torchvision", or "tf": TensorFlow's padding, more at the end than at the beginning, and eps
    norm: as in `make_norm`

    `stem` is layer 0, `blocks` are layers 1 to 17, `last` is layer 18; `layers` holds all of them in order. `channels`
    and `strides` are those of the outputs.
    Raises ValueRangeError for an unknown arch or norm, or a width that is not positive.
    Source: Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018.
    """

    def __init__(self, *, width: float = 1.0, arch: Arch = "torchvision", norm: Norm = "batch"):
        if arch not in ("torchvision", "tf"):
            raise ValueRangeError("MobileNetV2: arch is unknown", expected="'torchvision' or 'tf'", got=repr(arch))
        if not 0 < width < 100:
            raise ValueRangeError("MobileNetV2: width must be positive and below 100", got=width)
        tf = arch == "tf"
        # each framework's own defaults, which its weights were trained with
        common: NormSettings = {"norm": norm, "eps": 1e-3 if tf else 1e-5, "decay": 0.999 if tf else 0.9}
        channels, strides = [round_channels(32 * width)], [2]
        with self.init_scope():
            self.stem = ConvNormActiv(3, channels[0], 3, 2, activ=F.relu6, pad_end=tf, **common)
            self.blocks = ChainList()
            for row in ROWS:
                out_channels = round_channels(row.out_channels * width)
                block = (channels[-1], row.factor * channels[-1], out_channels, 3, row.stride)
                self.blocks.append(InvertedResidual(*block, activ=F.relu6, pad_end=tf, **common))
                channels.append(out_channels)
                strides.append(strides[-1] * row.stride)
            # widths below 1 do not narrow the last convolution (the paper, section 5)
            channels.append(round_channels(1280 * max(1.0, width)))
            self.last = ConvNormActiv(channels[-2], channels[-1], 1, activ=F.relu6, **common)
        self.channels = tuple(channels)
        self.strides = (*strides, strides[-1])

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
