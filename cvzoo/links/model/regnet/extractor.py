"""The convolutions of a RegNet."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.squeeze_excite_2d import SqueezeExcite2D
from cvzoo.links.model.conv_norm_activ import ConvNormActiv
from cvzoo.links.model.regnet.design import Design, design_of, stages_of
from cvzoo.links.model.resnet.norm import Norm


class RegNetBlock(Chain):
    """relu(conv3(excite(conv2(conv1(x)))) + shortcut(x)): 1 x 1, 3 x 3 in groups, 1 x 1, all of one width.

    squeezed: hidden channels of the squeeze-and-excite; None: there is none
    """

    def __init__(
        self, in_channels: int, width: int, stride: int, group_width: int, squeezed: int | None, *, norm: Norm = "batch"
    ):
        with self.init_scope():
            self.conv1 = ConvNormActiv(in_channels, width, 1, norm=norm)
            self.conv2 = ConvNormActiv(width, width, 3, stride, groups=width // group_width, norm=norm)
            self.se = None if squeezed is None else SqueezeExcite2D(width, squeezed)
            self.conv3 = ConvNormActiv(width, width, 1, norm=norm)
            self.shortcut = None
            if stride != 1 or in_channels != width:
                self.shortcut = ConvNormActiv(in_channels, width, 1, stride, activ=None, norm=norm)

    def forward(self, x: Any) -> Variable:
        """(B, width, H / stride, W / stride), sides rounded up, of x (B, in_channels, H, W)."""
        h = self.conv2(self.conv1(x))
        if self.se is not None:
            h = self.se(h)
        return self.conv3(h, x if self.shortcut is None else self.shortcut(x))


class RegNetExtractor(Chain):
    """What a RegNet makes of photos: one feature map a stage, of strides 4, 8, 16 and 32.

    design: a name of DESIGNS, or numbers
    stem: channels of the first convolution
    norm: as in `make_norm`

    `channels` are the maps' channels. Raises ValueRangeError for a design that there is not.
    Source: Radosavovic et al., Designing Network Design Spaces, CVPR 2020.
    """

    def __init__(self, design: str | Design, *, stem: int = 32, norm: Norm = "batch"):
        design = design_of(design)
        table = stages_of(design)
        self.channels = tuple(stage.width for stage in table)
        n_in = stem
        with self.init_scope():
            self.stem = ConvNormActiv(3, stem, 3, 2, norm=norm)
            self.stages = ChainList()
            for row in table:
                stage = ChainList()
                for i in range(row.count):
                    squeezed = None if design.squeeze is None else max(1, round(design.squeeze * n_in))
                    stage.append(RegNetBlock(n_in, row.width, 1 if i else 2, row.group_width, squeezed, norm=norm))
                    n_in = row.width
                self.stages.append(stage)

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """Each stage's map (B, channels[i], H / stride, W / stride), sides rounded up, of x (B, 3, H, W)."""
        h, maps = self.stem(x), []
        for stage in self.stages:
            for block in stage:
                h = block(h)
            maps.append(h)
        return tuple(maps)
