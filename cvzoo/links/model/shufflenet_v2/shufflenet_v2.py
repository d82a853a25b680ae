"""ShuffleNetV2, an image classifier (Ma et al., 2018)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import partial

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, count_field, preparation_field, width_field
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.shufflenet_v2.weights import NAMES, WEIGHTS
from cvzoo.links.model.variant import classifier_variant
from cvzoo.typing.aliases import Array

# width: channels of the first convolution, the three stages and the last convolution (the paper's table 5)
CHANNELS = {
    0.5: (24, 48, 96, 192, 1024),
    1.0: (24, 116, 232, 464, 1024),
    1.5: (24, 176, 352, 704, 1024),
    2.0: (24, 244, 488, 976, 2048),
}
COUNTS = (4, 8, 4)


class ShuffleBlock(Chain):
    """The shuffle unit: half of the channels pass unchanged, half through convolutions; then they are shuffled.

    in_channels: None for out_channels and a stride of 1; else both branches read all of x, with a stride of 2
    """

    def __init__(self, out_channels: int, in_channels: int | None = None):
        half = out_channels // 2
        stride, n_in = (1, half) if in_channels is None else (2, in_channels)
        self.half = half
        self.has_stride = in_channels is not None
        with self.init_scope():
            self.beside = self.beside_project = None
            if self.has_stride:
                self.beside = ConvNormActiv(n_in, n_in, 3, 2, groups=n_in, activ=None)
                self.beside_project = ConvNormActiv(n_in, half, 1)
            self.expand = ConvNormActiv(n_in, half, 1)
            self.depthwise = ConvNormActiv(half, half, 3, stride, groups=half, activ=None)
            self.project = ConvNormActiv(half, half, 1)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, H / stride, W / stride), sides rounded up, of x (B, channels, H, W)."""
        if self.beside is not None and self.beside_project is not None:
            shortcut = self.beside_project(self.beside(x))
        else:
            shortcut, x = F.split_axis(x, 2, 1)
        return F.channel_shuffle(F.concat([shortcut, self.project(self.depthwise(self.expand(x)))]), 2)


class ShuffleNetV2Extractor(Chain):
    """ShuffleNetV2 backbone (Ma et al., 2018): the maps of its stages (strides 8, 16, 32) and last convolution.

    channels: of the first convolution, the three stages (even numbers) and the last convolution
    counts: blocks of each stage

    Raises ValueRangeError for invalid channels or counts.
    Source: Ma et al., ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design, ECCV 2018.
    """

    def __init__(self, channels: Sequence[int] = CHANNELS[1.0], counts: Sequence[int] = COUNTS):
        if len(channels) != 5 or len(counts) != 3 or min(*channels, *counts) < 1 or any(c % 2 for c in channels[1:4]):
            raise ValueRangeError(
                "ShuffleNetV2: channels and counts are invalid",
                expected="five integers, of which the middle three are even, and three",
                got=f"{tuple(channels)}, {tuple(counts)}",
            )
        self.channels = tuple(channels[1:])
        with self.init_scope():
            self.stem = ConvNormActiv(3, channels[0], 3, 2)
            self.stages = ChainList()
            for n_in, n, count in zip(channels, channels[1:], counts):
                blocks = [ShuffleBlock(n, n_in), *(ShuffleBlock(n) for _ in range(count - 1))]
                self.stages.append(ChainList(*blocks))
            self.last = ConvNormActiv(channels[3], channels[4], 1)

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """Four maps (B, channels[i], H / stride, W / stride), sides rounded up, of x (B, 3, H, W)."""
        h = F.max_pooling_2d(self.stem(x), 3, 2, 1, cover_all=False)
        maps = []
        for stage in self.stages:
            for block in stage.children():
                h = block(h)
            maps.append(h)
        return (*maps, self.last(h))


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShuffleNetV2Config(AbstractConfig):
    """What a ShuffleNetV2 is built from; its fields are the constructor's arguments."""

    width: float = width_field()
    n_class: int = classes_field()
    channels: tuple[int, ...] | None = count_field(
        help="of the stem, the stages and the last convolution; None: the width's"
    )
    counts: tuple[int, ...] = count_field(help="blocks of the stages")
    preparation: CenterCrop = preparation_field()


class ShuffleNetV2(AbstractClassifier):
    """ShuffleNetV2, an image classifier (Ma et al., 2018).

    width: 0.5, 1.0, 1.5 or 2.0; any number where channels are given
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet", or a path of a torchvision file or one that cvzoo saved
    label_names: class names
    channels, counts: as in `ShuffleNetV2Extractor`; None: those of the width
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, pool1, res2, res3, res4, conv5, pool5, fc6.
    Source: Ma et al., ShuffleNet V2, ECCV 2018.
    """

    layer_names = ("conv1", "pool1", "res2", "res3", "res4", "conv5", "pool5", "fc6")

    def __init__(
        self,
        width: float = 1.0,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        channels: Sequence[int] | None = None,
        counts: Sequence[int] = COUNTS,
        preparation: CenterCrop | None = None,
    ):
        if channels is None and width not in CHANNELS:
            raise ValueRangeError(
                "ShuffleNetV2: width is not supported", expected=", ".join(map(str, CHANNELS)), got=width
            )
        source = classifier_source(
            pretrained_model,
            WEIGHTS.get(width, {}) if channels is None else {},
            NAMES,
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.config = ShuffleNetV2Config(
            width=width,
            n_class=self.n_class,
            channels=None if channels is None else tuple(channels),
            counts=tuple(counts),
            preparation=self.preparation,
        )
        with self.init_scope():
            self.extractor = ShuffleNetV2Extractor(CHANNELS[width] if channels is None else channels, counts)
            self.fc = Linear(self.extractor.channels[-1], self.n_class, initialW=Normal(0.01))
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = self.extractor.stem(x)
        yield "conv1", h
        h = F.max_pooling_2d(h, 3, 2, 1, cover_all=False)
        yield "pool1", h
        for i, stage in enumerate(self.extractor.stages):
            for block in stage.children():
                h = block(h)
            yield f"res{i + 2}", h
        h = self.extractor.last(h)
        yield "conv5", h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(h)


ShuffleNetV2X0_5 = classifier_variant("ShuffleNetV2X0_5", partial(ShuffleNetV2, 0.5), "A `ShuffleNetV2` of width 0.5")
ShuffleNetV2X1_0 = classifier_variant("ShuffleNetV2X1_0", partial(ShuffleNetV2, 1.0), "A `ShuffleNetV2` of width 1.0")
ShuffleNetV2X1_5 = classifier_variant("ShuffleNetV2X1_5", partial(ShuffleNetV2, 1.5), "A `ShuffleNetV2` of width 1.5")
ShuffleNetV2X2_0 = classifier_variant("ShuffleNetV2X2_0", partial(ShuffleNetV2, 2.0), "A `ShuffleNetV2` of width 2.0")
