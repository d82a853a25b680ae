"""SqueezeNet, an image classifier (Iandola et al., 2016)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.initializers.uniform import HeUniform
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import (
    AbstractConfig,
    classes_field,
    config_field,
    dropout_field,
    preparation_field,
    width_field,
)
from cvzoo.links.model.plan_checks import one_of
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.squeezenet.weights import WEIGHTS, squeezenet_names
from cvzoo.links.model.variant import classifier_variant
from cvzoo.typing.aliases import Array

Version = Literal["1.0", "1.1"]

# squeeze and expand of fire2 to fire9
FIRES = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
# of conv1: channels, ksize; the stages after which there is a pooling
VERSIONS = {"1.0": ((96, 7), ("conv1", "fire4", "fire8")), "1.1": ((64, 3), ("conv1", "fire3", "fire5"))}


def stage_names(version: Version) -> tuple[str, ...]:
    """Names of the stages: conv1, pool1, fire2, ... fire9, conv10, with the version's poolings."""
    names = []
    for name in ("conv1", *(f"fire{i}" for i in range(2, 10))):
        names.append(name)
        if name in VERSIONS[version][1]:
            names.append(f"pool{name[4:]}")
    return (*names, "conv10", "pool10")


class Fire(Chain):
    """Fire module: 1 x 1 to `squeeze` channels, then 1 x 1 and 3 x 3 to `expand` channels each, concatenated; ReLU.

    Source: Iandola et al., SqueezeNet, 2016, section 3.2.
    """

    def __init__(self, in_channels: int, squeeze: int, expand: int):
        start = HeUniform()
        with self.init_scope():
            self.squeeze = Conv2DActiv(in_channels, squeeze, 1, initialW=start)
            self.expand1 = Conv2DActiv(squeeze, expand, 1, initialW=start)
            self.expand3 = Conv2DActiv(squeeze, expand, 3, 1, 1, initialW=start)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, 2 * expand, H, W) of x (B, in_channels, H, W)."""
        h = self.squeeze(x)
        return F.concat((self.expand1(h), self.expand3(h)), axis=1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SqueezeNetConfig(AbstractConfig):
    """What a SqueezeNet is built from; its fields are the constructor's arguments."""

    version: Version = config_field(help="the paper's 1.0, or 1.1, which is 2.4 times cheaper")
    n_class: int = classes_field()
    width: float = width_field()
    dropout: float = dropout_field()
    preparation: CenterCrop = preparation_field()


class SqueezeNet(AbstractClassifier):
    """SqueezeNet, an image classifier (Iandola et al., 2016).

    version: "1.0", the paper's, or "1.1", 2.4 times cheaper and as accurate
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet" (torchvision), or a path of a file of torchvision or one that cvzoo saved
    label_names: class names
    width: factor of the paper's channels, such as 1 / 16
    dropout: ratio before conv10, in training
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for an unknown version or weights;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, pool1, fire2 ... fire9 with poolings between, conv10 (B, n_class, H, W), pool10: the logits.
    Source: Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and < 0.5MB model size, 2016.
    """

    def __init__(
        self,
        version: Version = "1.0",
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        width: float = 1.0,
        dropout: float = 0.5,
        preparation: CenterCrop | None = None,
    ):
        (channels, ksize), _ = one_of(VERSIONS, version, "SqueezeNet: version")
        source = classifier_source(
            pretrained_model,
            WEIGHTS[version],
            squeezenet_names(stage_names(version)),
            heads=("conv10/conv",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.config = SqueezeNetConfig(
            version=version, n_class=self.n_class, width=width, dropout=dropout, preparation=self.preparation
        )
        self.dropout = dropout
        self.layer_names = stage_names(version)
        n = max(1, round(channels * width))
        with self.init_scope():
            self.conv1 = Conv2DActiv(3, n, ksize, 2, initialW=HeUniform())
            for i, (squeeze, expand) in enumerate(FIRES, start=2):
                squeeze, expand = (max(1, round(count * width)) for count in (squeeze, expand))
                self.add_link(f"fire{i}", Fire(n, squeeze, expand))
                n = 2 * expand
            self.conv10 = Conv2DActiv(n, self.n_class, 1, initialW=Normal(0.01))
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = x
        for name in self.layer_names[:-2]:
            h = F.max_pooling_2d(h, 3, 2, cover_all=True) if name.startswith("pool") else self[name](h)
            yield name, h
        h = self.conv10(F.dropout(h, self.dropout))
        yield "conv10", h
        yield "pool10", F.global_average_pooling_2d(h)


SqueezeNet1_0 = classifier_variant("SqueezeNet1_0", partial(SqueezeNet, "1.0"), "A `SqueezeNet` of version 1.0")
SqueezeNet1_1 = classifier_variant("SqueezeNet1_1", partial(SqueezeNet, "1.1"), "A `SqueezeNet` of version 1.1")
