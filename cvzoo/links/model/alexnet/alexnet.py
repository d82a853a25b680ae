"""AlexNet, as torchvision has it."""

import dataclasses
import os
from collections.abc import Iterator, Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.alexnet.weights import NAMES, WEIGHTS
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import (
    AbstractConfig,
    classes_field,
    count_field,
    dropout_field,
    preparation_field,
    width_field,
)
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.typing.aliases import Array

_SIDE = 6  # side of the map that the fully connected layers read


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlexNetConfig(AbstractConfig):
    """What an AlexNet is built from; its fields are the constructor's arguments."""

    n_class: int = classes_field()
    width: float = width_field()
    fc_channels: int = count_field(help="units of fc6 and fc7")
    dropout: float = dropout_field()
    preparation: CenterCrop = preparation_field()


class AlexNet(AbstractClassifier):
    """AlexNet, an image classifier (Krizhevsky, 2014).

    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet" (torchvision), or a path of a file of torchvision or one that cvzoo saved
    label_names: class names
    width: factor of the paper's channels, a multiple of 1 / 64
    fc_channels: of fc6 and fc7
    dropout: ratio before fc6 and fc7, in training
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, pool1, conv2, pool2, conv3, conv4, conv5 (after their relu), pool5, fc6, fc7 (after their relu), fc8.
    Images may have any size from 63 x 63 on: pool5 becomes 6 x 6 means before fc6.
    Source: Krizhevsky, One weird trick for parallelizing convolutional neural networks, 2014: one tower, no local
    response normalization.
    """

    layer_names = (
        "conv1", "pool1", "conv2", "pool2", "conv3", "conv4", "conv5", "pool5", "fc6", "fc7", "fc8",
    )  # fmt: skip

    def __init__(
        self,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        width: float = 1.0,
        fc_channels: int = 4096,
        dropout: float = 0.5,
        preparation: CenterCrop | None = None,
    ):
        source = classifier_source(
            pretrained_model,
            WEIGHTS,
            NAMES,
            heads=("fc8",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.config = AlexNetConfig(
            n_class=self.n_class,
            width=width,
            fc_channels=fc_channels,
            dropout=dropout,
            preparation=self.preparation,
        )
        self.dropout = dropout
        n1, n2, n3, n4 = (round(n * width) for n in (64, 192, 384, 256))
        start = HeNormal()
        with self.init_scope():
            self.conv1 = Conv2DActiv(3, n1, 11, 4, 2, initialW=start)
            self.conv2 = Conv2DActiv(n1, n2, 5, 1, 2, initialW=start)
            self.conv3 = Conv2DActiv(n2, n3, 3, 1, 1, initialW=start)
            self.conv4 = Conv2DActiv(n3, n4, 3, 1, 1, initialW=start)
            self.conv5 = Conv2DActiv(n4, n4, 3, 1, 1, initialW=start)
            self.fc6 = Linear(n4 * _SIDE * _SIDE, fc_channels, initialW=start)
            self.fc7 = Linear(fc_channels, fc_channels, initialW=start)
            self.fc8 = Linear(fc_channels, self.n_class)
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = x
        for name in self.layer_names[:8]:
            h = self[name](h) if name.startswith("conv") else F.max_pooling_2d(h, 3, 2, cover_all=False)
            yield name, h
        h = F.dropout(F.adaptive_average_pooling_2d(h, _SIDE), self.dropout)
        h = F.relu(self.fc6(h))
        yield "fc6", h
        h = F.relu(self.fc7(F.dropout(h, self.dropout)))
        yield "fc7", h
        yield "fc8", self.fc8(h)
