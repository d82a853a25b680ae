"""VGG, an image classifier (Simonyan and Zisserman, 2015)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import partial

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import (
    AbstractConfig,
    classes_field,
    config_field,
    count_field,
    dropout_field,
    preparation_field,
)
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.variant import classifier_variant
from cvzoo.links.model.vgg.extractor import VGGExtractor, VGGNorm
from cvzoo.links.model.vgg.weights import WEIGHTS, vgg_names
from cvzoo.typing.aliases import Array

_SIDE = 7  # side of the map that the fully connected layers read


@dataclasses.dataclass(frozen=True, kw_only=True)
class VGGConfig(AbstractConfig):
    """What a VGG is built from; its fields are the constructor's arguments."""

    n_layer: int = count_field(help="11, 13, 16 or 19")
    n_class: int = classes_field()
    norm: VGGNorm | None = config_field(help="normalization after the convolutions; None: none")
    base_channels: int = count_field(help="channels of the first convolution; the others in proportion")
    fc_channels: int = count_field(help="units of fc6 and fc7")
    dropout: float = dropout_field()
    preparation: CenterCrop = preparation_field()


class VGG(AbstractClassifier):
    """VGG, an image classifier (Simonyan and Zisserman, 2015).

    n_layer: 11, 13, 16 or 19
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet" (torchvision), "imagenet_caffe" (16 layers without norm: the authors', converted by
        ChainerCV), or a path of a file of torchvision, of ChainerCV or one that cvzoo saved
    label_names: class names
    norm, base_channels: as in `VGGExtractor`
    fc_channels: of fc6 and fc7
    dropout: ratio of fc6 and fc7, in training
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: conv1_1 ... conv5_3, each after its relu, pool1 ... pool5, fc6, fc6_relu, fc7, fc7_relu, fc8. Images may
    have any size from 32 x 32 on: pool5 is averaged to 7 x 7.
    Source: Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR 2015.
    """

    def __init__(
        self,
        n_layer: int,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        norm: VGGNorm | None = None,
        base_channels: int = 64,
        fc_channels: int = 4096,
        dropout: float = 0.5,
        preparation: CenterCrop | None = None,
    ):
        source = classifier_source(
            pretrained_model,
            WEIGHTS.get((n_layer, norm), {}),
            vgg_names(n_layer, norm),
            heads=("fc8",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.n_layer = n_layer
        self.norm = norm
        self.config = VGGConfig(
            n_layer=n_layer,
            n_class=self.n_class,
            norm=norm,
            base_channels=base_channels,
            fc_channels=fc_channels,
            dropout=dropout,
            preparation=self.preparation,
        )
        self.dropout = dropout
        with self.init_scope():
            self.extractor = VGGExtractor(n_layer, base_channels=base_channels, norm=norm)
            self.fc6 = Linear(self.extractor.channels[-1] * _SIDE * _SIDE, fc_channels, initialW=HeNormal())
            self.fc7 = Linear(fc_channels, fc_channels, initialW=HeNormal())
            self.fc8 = Linear(fc_channels, self.n_class)
        self.layer_names = (*self.extractor.layer_names, "fc6", "fc6_relu", "fc7", "fc7_relu", "fc8")
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = x
        for name, h in self.extractor.stages(x):
            yield name, h
        h = self.fc6(F.adaptive_average_pooling_2d(h, _SIDE))
        yield "fc6", h
        h = F.relu(h)
        yield "fc6_relu", h
        h = self.fc7(F.dropout(h, self.dropout))
        yield "fc7", h
        h = F.relu(h)
        yield "fc7_relu", h
        yield "fc8", self.fc8(F.dropout(h, self.dropout))


VGG11 = classifier_variant("VGG11", partial(VGG, 11), "A `VGG` of 11 layers")
VGG11BN = classifier_variant(
    "VGG11BN", partial(VGG, 11, norm="batch"), "A `VGG` of 11 layers with batch normalizations"
)
VGG13 = classifier_variant("VGG13", partial(VGG, 13), "A `VGG` of 13 layers")
VGG13BN = classifier_variant(
    "VGG13BN", partial(VGG, 13, norm="batch"), "A `VGG` of 13 layers with batch normalizations"
)
VGG16 = classifier_variant("VGG16", partial(VGG, 16), "A `VGG` of 16 layers")
VGG16BN = classifier_variant(
    "VGG16BN", partial(VGG, 16, norm="batch"), "A `VGG` of 16 layers with batch normalizations"
)
VGG19 = classifier_variant("VGG19", partial(VGG, 19), "A `VGG` of 19 layers")
VGG19BN = classifier_variant(
    "VGG19BN", partial(VGG, 19, norm="batch"), "A `VGG` of 19 layers with batch normalizations"
)
