"""MNASNet backbone (Tan et al., 2019)."""

from typing import NamedTuple

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv, round_channels
from cvzoo.links.link import Link
from cvzoo.links.model.inverted_residual import InvertedResidual
from cvzoo.typing.aliases import Array

_DECAY = 0.9997  # of running statistics: TensorFlow's, in which the paper's networks were trained


class _Stage(NamedTuple):
    factor: int
    ksize: int
    stride: int
    out_channels: int
    n_block: int


# the paper's figure 7, network A1 without squeeze-and-excite, which is called B1
STAGES = (
    _Stage(1, 3, 1, 16, 1),
    _Stage(3, 3, 2, 24, 3),
    _Stage(3, 5, 2, 40, 3),
    _Stage(6, 5, 2, 80, 3),
    _Stage(6, 3, 1, 96, 2),
    _Stage(6, 5, 2, 192, 4),
    _Stage(6, 3, 1, 320, 1),
)


class MNASNetExtractor(Chain):
    """MNASNet backbone (Tan et al., 2019): the outputs of its first convolution, seven stages and last convolution.

    width: multiplier of all channels but the last convolution's
    last: channels of the last convolution

    `layers` are these nine in order; `channels` those of the outputs, of strides 2, 2, 4, 8, 16, 16, 32, 32 and 32.
    Raises ValueRangeError for a width that is not positive.
    Source: Tan et al., MnasNet: Platform-Aware Neural Architecture Search for Mobile, CVPR 2019 (B1).
    """

    def __init__(self, width: float = 1.0, *, last: int = 1280):
        if not 0 < width < 100:
            raise ValueRangeError("MNASNet: width must be positive and below 100", got=width)
        channels = [round_channels(32 * width)]
        with self.init_scope():
            self.stem = ConvNormActiv(3, channels[0], 3, 2, decay=_DECAY)
            self.stages = ChainList()
            for row in STAGES:
                stage, n_in, n_out = ChainList(), channels[-1], round_channels(row.out_channels * width)
                for i in range(row.n_block):
                    stride = 1 if i else row.stride
                    block = (n_in, row.factor * n_in, n_out, row.ksize, stride)
                    stage.append(InvertedResidual(*block, shortcut=row.factor > 1, decay=_DECAY))
                    n_in = n_out
                self.stages.append(stage)
                channels.append(n_out)
            self.last = ConvNormActiv(channels[-1], last, 1, decay=_DECAY)
        self.channels = (*channels, last)

    @property
    def layers(self) -> tuple[tuple[Link, ...], ...]:
        """The links that compute each output, in order."""
        return ((self.stem,), *(tuple(stage.children()) for stage in self.stages), (self.last,))

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """Each output (B, channels[i], H / stride, W / stride), sides rounded up, of x (B, 3, H, W)."""
        h = as_variable(x)
        maps = []
        for links in self.layers:
            for link in links:
                h = link(h)
            maps.append(h)
        return tuple(maps)
