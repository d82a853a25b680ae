"""MobileNetV2, an image classifier (Sandler et al., 2018)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import (
    AbstractConfig,
    classes_field,
    config_field,
    dropout_field,
    preparation_field,
    width_field,
)
from cvzoo.links.model.mobilenet_v2.extractor import ROWS, Arch, MobileNetV2Extractor
from cvzoo.links.model.mobilenet_v2.weights import TF_LABEL_NAMES, TF_PREPARATION, WEIGHTS, mobilenet_v2_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class MobileNetV2Config(AbstractConfig):
    """What a MobileNetV2 is built from; its fields are the constructor's arguments."""

    n_class: int = classes_field()
    arch: Arch = config_field(help="whose details: torchvision's or TensorFlow's")
    width: float = width_field()
    dropout: float = dropout_field()
    preparation: CenterCrop = preparation_field()


class MobileNetV2(AbstractClassifier):
    """MobileNetV2, an image classifier (Sandler et al., 2018).

    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet"; "imagenet_v2", "imagenet_timm" (arch "torchvision"; the latter also of width 0.5 and
        1.4); or a path of a file of torchvision or timm (arch "torchvision"), of ChainerCV (arch "tf"; 1001 classes,
        the first is the background) or one that cvzoo saved
    label_names: class names
    arch, width: as in `MobileNetV2Extractor`
    dropout: ratio of the pooled features, in training
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, block1 to block17, conv2, pool5, fc6.
    Source: Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks, CVPR 2018.
    """

    def __init__(
        self,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        arch: Arch = "torchvision",
        width: float = 1.0,
        dropout: float = 0.2,
        preparation: CenterCrop | None = None,
    ):
        source = classifier_source(
            pretrained_model,
            WEIGHTS.get((arch, width), {}),
            mobilenet_v2_names(arch),
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=TF_PREPARATION if arch == "tf" else CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        if arch == "tf" and source.file is not None and self.label_names is None and self.n_class == 1001:
            self.label_names = TF_LABEL_NAMES
        self.preparation = source.preparation if preparation is None else preparation
        self.config = MobileNetV2Config(
            n_class=self.n_class, arch=arch, width=width, dropout=dropout, preparation=self.preparation
        )
        self.dropout = dropout
        with self.init_scope():
            self.extractor = MobileNetV2Extractor(width=width, arch=arch)
            self.fc = Linear(self.extractor.channels[-1], self.n_class, initialW=Normal(0.01))
        self.layer_names = ("conv1", *(f"block{i + 1}" for i in range(len(ROWS))), "conv2", "pool5", "fc6")
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = x
        for name, layer in zip(self.layer_names, self.extractor.layers):
            h = layer(h)
            yield name, h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(F.dropout(h, self.dropout))
