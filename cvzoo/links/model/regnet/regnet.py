"""RegNet, an image classifier (Radosavovic et al., 2020), and its backbone."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv, Norm, round_channels
from cvzoo.links.connection.linear import Linear
from cvzoo.links.connection.se_block import SqueezeExcite2D
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, count_field, preparation_field
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.regnet.weights import NAMES, WEIGHTS
from cvzoo.links.model.variant import classifier_variant
from cvzoo.typing.aliases import Array


class Design(NamedTuple):
    """The design parameters of a network.

    depth: total number of blocks
    start, slope: of the linear widths of blocks, start + slope * i
    ratio: quantization of the widths: ratio of the widths of consecutive stages
    group_width: channels per group of the 3 x 3 convolutions
    squeeze: ratio of squeeze-and-excite's hidden channels to the block's input channels; None: none (RegNetX)
    """

    depth: int
    start: int
    slope: float
    ratio: float
    group_width: int
    squeeze: float | None


class Stage(NamedTuple):
    """Blocks of one width; the first has a stride of 2."""

    width: int
    n_block: int
    group_width: int


# the paper's tables for 200 MF to 32 GF as torchvision trained them; 128 GF: Singh et al. (2022)
DESIGNS = {
    "x_400mf": Design(22, 24, 24.48, 2.54, 16, None),
    "x_800mf": Design(16, 56, 35.73, 2.28, 16, None),
    "x_1_6gf": Design(18, 80, 34.01, 2.25, 24, None),
    "x_3_2gf": Design(25, 88, 26.31, 2.25, 48, None),
    "x_8gf": Design(23, 80, 49.56, 2.88, 120, None),
    "x_16gf": Design(22, 216, 55.59, 2.1, 128, None),
    "x_32gf": Design(23, 320, 69.86, 2.0, 168, None),
    "y_400mf": Design(16, 48, 27.89, 2.09, 8, 0.25),
    "y_800mf": Design(14, 56, 38.84, 2.4, 16, 0.25),
    "y_1_6gf": Design(27, 48, 20.71, 2.65, 24, 0.25),
    "y_3_2gf": Design(21, 80, 42.63, 2.66, 24, 0.25),
    "y_8gf": Design(17, 192, 76.82, 2.19, 56, 0.25),
    "y_16gf": Design(18, 200, 106.23, 2.48, 112, 0.25),
    "y_32gf": Design(20, 232, 115.89, 2.53, 232, 0.25),
    "y_128gf": Design(27, 456, 160.83, 2.52, 264, 0.25),
}


def design_of(design: str | tuple) -> Design:
    """The design itself, or the one of that name. Raises ValueRangeError for an unknown name or invalid values."""
    if not isinstance(design, str):
        design = Design(*design)
        whole = (design.depth, design.start, design.group_width)
        if not (min(whole) >= 1 and max(whole) < 10_000 and 0 <= design.slope < 10_000 and 1 < design.ratio < 100):
            raise ValueRangeError("RegNet: design is invalid", got=repr(design))
        return design
    if design not in DESIGNS:
        raise ValueRangeError("RegNet: design is unknown", expected=", ".join(DESIGNS), got=repr(design))
    return DESIGNS[design]


def stages_of(design: Design) -> tuple[Stage, ...]:
    """The stages of a network.

    Source: Radosavovic et al., equations 2 to 4: the widths of a line, each rounded to start * ratio ** k with a whole
    k and to a multiple of 8; then to a multiple of the group's width, which is at most the stage's.
    """
    line = design.start + design.slope * np.arange(design.depth)
    powers = np.round(np.log(line / design.start) / np.log(design.ratio))
    rounded = (np.round(design.start * design.ratio**powers / 8) * 8).astype(int)
    widths, counts = np.unique(rounded, return_counts=True)  # they never shrink
    stages = []
    for width, count in zip(widths.tolist(), counts.tolist()):
        group = min(design.group_width, width)
        stages.append(Stage(round_channels(width, group), count, group))
    return tuple(stages)


class RegNetBlock(Chain):
    """X or Y block: relu(conv3(excite(conv2(conv1(x)))) + shortcut(x)): 1 x 1, grouped 3 x 3, 1 x 1, of one width.

    squeezed: hidden channels of the squeeze-and-excite; None: none
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

    def forward(self, x: Variable | Array) -> Variable:
        """(B, width, H / stride, W / stride), sides rounded up, of x (B, in_channels, H, W)."""
        h = self.conv2(self.conv1(x))
        if self.se is not None:
            h = self.se(h)
        return self.conv3(h, x if self.shortcut is None else self.shortcut(x))


class RegNetExtractor(Chain):
    """RegNet backbone (Radosavovic et al., 2020): one feature map per stage, of strides 4, 8, 16 and 32.

    design: a name of DESIGNS, or a Design
    stem: channels of the first convolution
    norm: as in `make_norm`

    `channels` are the maps' channels. Raises ValueRangeError for an unknown or invalid design.
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
                for i in range(row.n_block):
                    squeezed = None if design.squeeze is None else max(1, round(design.squeeze * n_in))
                    stage.append(RegNetBlock(n_in, row.width, 1 if i else 2, row.group_width, squeezed, norm=norm))
                    n_in = row.width
                self.stages.append(stage)

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """Each stage's map (B, channels[i], H / stride, W / stride), sides rounded up, of x (B, 3, H, W)."""
        h, maps = self.stem(x), []
        for stage in self.stages:
            for block in stage.children():
                h = block(h)
            maps.append(h)
        return tuple(maps)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RegNetConfig(AbstractConfig):
    """What a RegNet is built from; its fields are the constructor's arguments."""

    design: str | tuple[int, int, float, float, int, float | None] = config_field(
        help="name of a published network, or a Design"
    )
    n_class: int = classes_field()
    stem: int = count_field(help="channels of the first convolution")
    preparation: CenterCrop = preparation_field()


class RegNet(AbstractClassifier):
    """RegNet, an image classifier (Radosavovic et al., 2020).

    design: a name, "x_400mf" to "x_32gf" or "y_400mf" to "y_128gf", or a Design
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet", "imagenet_v2", "imagenet_swag" and "imagenet_swag_linear" (y, from 16 GF on; not for
        commercial use), or a path of a torchvision file or one that cvzoo saved
    label_names: class names
    stem: channels of the first convolution
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, res2 to res5 (as many as the design has), pool5, fc6.
    Source: Radosavovic et al., Designing Network Design Spaces, CVPR 2020.
    """

    def __init__(
        self,
        design: str | Design,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        stem: int = 32,
        preparation: CenterCrop | None = None,
    ):
        source = classifier_source(
            pretrained_model,
            WEIGHTS.get(design, {}) if isinstance(design, str) else {},
            NAMES,
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.config = RegNetConfig(design=design, n_class=self.n_class, stem=stem, preparation=self.preparation)
        with self.init_scope():
            self.extractor = RegNetExtractor(design, stem=stem)
            self.fc = Linear(self.extractor.channels[-1], self.n_class, initialW=Normal(0.01))
        stages = [f"res{i + 2}" for i in range(len(self.extractor.channels))]
        self.layer_names = ("conv1", *stages, "pool5", "fc6")
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = self.extractor.stem(x)
        yield "conv1", h
        for i, stage in enumerate(self.extractor.stages):
            for block in stage.children():
                h = block(h)
            yield f"res{i + 2}", h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(h)


RegNetX400MF = classifier_variant("RegNetX400MF", partial(RegNet, "x_400mf"), "A `RegNet` X of 400 MF")
RegNetX800MF = classifier_variant("RegNetX800MF", partial(RegNet, "x_800mf"), "A `RegNet` X of 800 MF")
RegNetX1_6GF = classifier_variant("RegNetX1_6GF", partial(RegNet, "x_1_6gf"), "A `RegNet` X of 1.6 GF")
RegNetX3_2GF = classifier_variant("RegNetX3_2GF", partial(RegNet, "x_3_2gf"), "A `RegNet` X of 3.2 GF")
RegNetX8GF = classifier_variant("RegNetX8GF", partial(RegNet, "x_8gf"), "A `RegNet` X of 8 GF")
RegNetX16GF = classifier_variant("RegNetX16GF", partial(RegNet, "x_16gf"), "A `RegNet` X of 16 GF")
RegNetX32GF = classifier_variant("RegNetX32GF", partial(RegNet, "x_32gf"), "A `RegNet` X of 32 GF")
RegNetY400MF = classifier_variant("RegNetY400MF", partial(RegNet, "y_400mf"), "A `RegNet` Y of 400 MF")
RegNetY800MF = classifier_variant("RegNetY800MF", partial(RegNet, "y_800mf"), "A `RegNet` Y of 800 MF")
RegNetY1_6GF = classifier_variant("RegNetY1_6GF", partial(RegNet, "y_1_6gf"), "A `RegNet` Y of 1.6 GF")
RegNetY3_2GF = classifier_variant("RegNetY3_2GF", partial(RegNet, "y_3_2gf"), "A `RegNet` Y of 3.2 GF")
RegNetY8GF = classifier_variant("RegNetY8GF", partial(RegNet, "y_8gf"), "A `RegNet` Y of 8 GF")
RegNetY16GF = classifier_variant("RegNetY16GF", partial(RegNet, "y_16gf"), "A `RegNet` Y of 16 GF")
RegNetY32GF = classifier_variant("RegNetY32GF", partial(RegNet, "y_32gf"), "A `RegNet` Y of 32 GF")
RegNetY128GF = classifier_variant("RegNetY128GF", partial(RegNet, "y_128gf"), "A `RegNet` Y of 128 GF")
