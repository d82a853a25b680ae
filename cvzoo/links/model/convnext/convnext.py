"""ConvNeXt as a classifier."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_linear import fused_linear
from cvzoo.links.connection.layer_normalization import LayerNormalization, LayerNormalization2D
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, preparation_field
from cvzoo.links.model.convnext.weights import NAMES, WEIGHTS
from cvzoo.links.model.plan_checks import check_plan_numbers, one_of
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.variant import classifier_variant
from cvzoo.typing.aliases import Array

_SCALE_START = 1e-6  # the paper's layer scale: blocks are initially close to the identity


class ConvNeXtBlock(Chain):
    """x + scale * narrow(gelu(widen(norm(7 x 7 depthwise convolution of x)))).

    n_channel: of x; the hidden layer has four times as many
    drop_path: stochastic depth: the probability that an image skips the block in training
    """

    def __init__(self, n_channel: int, drop_path: float = 0.0):
        self.drop_path = drop_path
        with self.init_scope():
            self.depthwise = Convolution2D(n_channel, n_channel, 7, 1, 3, groups=n_channel, initialW=Normal(0.02))
            self.norm = LayerNormalization2D(n_channel)
            self.widen = Linear(n_channel, 4 * n_channel, initialW=Normal(0.02))
            self.narrow = Linear(4 * n_channel, n_channel, initialW=Normal(0.02))
            self.scale = Parameter(_SCALE_START, n_channel)

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, n_channel, H, W)."""
        h = F.transpose(self.norm(self.depthwise(x)), (0, 2, 3, 1))
        h = fused_linear(self.widen, h, with_gelu=True)
        around = F.transpose(x, (0, 2, 3, 1))
        if switches.train and self.drop_path:
            h = fused_linear(self.narrow, h, scale=self.scale)
            h = around + F.stochastic_depth(h, self.drop_path)
        else:
            h = fused_linear(self.narrow, h, scale=self.scale, add=around)
        return F.transpose(h, (0, 3, 1, 2))


Size = Literal["tiny", "small", "base", "large"]


class ConvNeXtDimensions(NamedTuple):
    """Depths and widths of the network.

    channels, depths: of the four stages: channels of the maps, number of blocks
    drop_path: stochastic depth: the probability that the last block is skipped in training; it grows linearly from 0
    """

    channels: tuple[int, int, int, int]
    depths: tuple[int, int, int, int]
    drop_path: float


# the paper's table 10; drop_path as torchvision trained them
PLANS: dict[str, ConvNeXtDimensions] = {
    "tiny": ConvNeXtDimensions((96, 192, 384, 768), (3, 3, 9, 3), 0.1),
    "small": ConvNeXtDimensions((96, 192, 384, 768), (3, 3, 27, 3), 0.4),
    "base": ConvNeXtDimensions((128, 256, 512, 1024), (3, 3, 27, 3), 0.5),
    "large": ConvNeXtDimensions((192, 384, 768, 1536), (3, 3, 27, 3), 0.5),
}


def plan_of(size: str, plan: ConvNeXtDimensions | None) -> ConvNeXtDimensions:
    """The plan, or without one that of the size. Raises ValueRangeError for an unknown size or invalid values."""
    usual = one_of(PLANS, size, "ConvNeXt: there is no size")
    if plan is None:
        return usual
    what = "ConvNeXt: plan"
    check_plan_numbers(what, {"channels": plan.channels, "depths": plan.depths}, drop_path=plan.drop_path)
    if len(plan.channels) != 4 or len(plan.depths) != 4:
        raise ValueRangeError(what, expected="four stages", got=f"{len(plan.channels)} and {len(plan.depths)}")
    return plan


class ConvNeXtStem(Chain):
    """Stem norm(conv(x)): 4 x 4 pixels become one."""

    def __init__(self, n_channel: int):
        with self.init_scope():
            self.conv = Convolution2D(3, n_channel, 4, 4, initialW=Normal(0.02))
            self.norm = LayerNormalization2D(n_channel)

    def forward(self, x: Variable | Array) -> Variable:
        return self.norm(self.conv(x))


class ConvNeXtDown(Chain):
    """Downsampling conv(norm(x)): 2 x 2 pixels become one."""

    def __init__(self, in_channels: int, out_channels: int):
        with self.init_scope():
            self.norm = LayerNormalization2D(in_channels)
            self.conv = Convolution2D(in_channels, out_channels, 2, 2, initialW=Normal(0.02))

    def forward(self, x: Variable | Array) -> Variable:
        return self.conv(self.norm(x))


class ConvNeXtExtractor(Chain):
    """ConvNeXt backbone (Liu et al., 2022): maps C2 to C5 of strides 4, 8, 16 and 32.

    plan: depths and widths
    channels: of the four maps
    """

    def __init__(self, plan: ConvNeXtDimensions):
        self.channels = plan.channels
        n_block = sum(plan.depths)
        rates = iter([plan.drop_path * i / max(n_block - 1, 1) for i in range(n_block)])
        with self.init_scope():
            self.stem = ConvNeXtStem(plan.channels[0])
            for i, (n_channel, depth) in enumerate(zip(plan.channels, plan.depths)):
                if i:
                    self.add_link(f"down{i + 2}", ConvNeXtDown(plan.channels[i - 1], n_channel))
                blocks = [ConvNeXtBlock(n_channel, next(rates)) for _ in range(depth)]
                self.add_link(f"res{i + 2}", ChainList(*blocks))

    def stage(self, i: int, x: Variable) -> Variable:
        """The output of stage i (from 0), from the previous one's or the stem's."""
        h = self[f"down{i + 2}"](x) if i else x
        for block in self[f"res{i + 2}"].children():
            h = block(h)
        return h

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """Maps (B, channels[i], H / 4 / 2^i, W / 4 / 2^i) of x (B, 3, H, W)."""
        h = self.stem(x)
        maps = []
        for i in range(4):
            h = self.stage(i, h)
            maps.append(h)
        return tuple(maps)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConvNeXtConfig(AbstractConfig):
    """What a ConvNeXt is built from; its fields are the constructor's arguments."""

    size: Size = config_field(help="the published network that is meant")
    n_class: int = classes_field()
    plan: ConvNeXtDimensions = config_field(help="depths and widths", inline=True)
    preparation: CenterCrop = preparation_field()


class ConvNeXt(AbstractClassifier):
    """ConvNeXt, an image classifier (Liu et al., 2022).

    size: "tiny", "small", "base" or "large"
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet" (torchvision's), "imagenet_fb" or "imagenet_22k" (both the authors'; the latter is
        pretrained on ImageNet-22k, for 384 x 384 pixels), or a path of a file of theirs, of timm's, or one that cvzoo
        saved
    label_names: class names
    plan: depths and widths other than those of `size`
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, res2, res3, res4, res5, pool5, fc6.
    Source: Liu et al., A ConvNet for the 2020s, CVPR 2022.
    """

    layer_names = ("conv1", "res2", "res3", "res4", "res5", "pool5", "fc6")

    def __init__(
        self,
        size: Size = "tiny",
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        plan: ConvNeXtDimensions | None = None,
        preparation: CenterCrop | None = None,
    ):
        plan = plan_of(size, plan)
        source = classifier_source(
            pretrained_model,
            WEIGHTS[size],
            NAMES,
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(short=236),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.config = ConvNeXtConfig(size=size, n_class=self.n_class, plan=plan, preparation=self.preparation)
        self.plan = plan
        with self.init_scope():
            self.extractor = ConvNeXtExtractor(self.plan)
            self.norm = LayerNormalization(self.plan.channels[-1])
            self.fc = Linear(self.plan.channels[-1], self.n_class, initialW=Normal(0.02))
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = self.extractor.stem(x)
        yield "conv1", h
        for i in range(4):
            h = self.extractor.stage(i, h)
            yield f"res{i + 2}", h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(self.norm(h))


ConvNeXtTiny = classifier_variant("ConvNeXtTiny", partial(ConvNeXt, "tiny"), "A tiny `ConvNeXt`, 29 million parameters")
ConvNeXtSmall = classifier_variant(
    "ConvNeXtSmall", partial(ConvNeXt, "small"), "A small `ConvNeXt`, 50 million parameters"
)
ConvNeXtBase = classifier_variant(
    "ConvNeXtBase",
    partial(ConvNeXt, "base"),
    "A `ConvNeXt` of the paper's base size, 89 million parameters",
)
ConvNeXtLarge = classifier_variant(
    "ConvNeXtLarge", partial(ConvNeXt, "large"), "A large `ConvNeXt`, 198 million parameters"
)
