"""MobileNetV3, an image classifier (Howard et al., 2019)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import partial

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
from cvzoo.links.model.mobilenet_v3.extractor import MobileNetV3Extractor, Size, network_plan
from cvzoo.links.model.mobilenet_v3.weights import TIMM_EPS, WEIGHTS, mobilenet_v3_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.variant import classifier_variant
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class MobileNetV3Config(AbstractConfig):
    """What a MobileNetV3 is built from; its fields are the constructor's arguments."""

    size: Size = config_field(help="the published variant")
    n_class: int = classes_field()
    width: float = width_field()
    eps: float = config_field(help="epsilon of the normalizations", at_least=0)
    dropout: float = dropout_field()
    preparation: CenterCrop = preparation_field()


class MobileNetV3(AbstractClassifier):
    """MobileNetV3, an image classifier (Howard et al., 2019).

    size: "large" or "small"
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet", "imagenet_v2" (large), "imagenet_timm", or a path of a file of torchvision or timm or
        one that cvzoo saved
    label_names: class names
    width: multiplier of all channels
    eps: of the normalizations; None: 1e-3, or timm's where the file is timm's
    dropout: ratio of the classifier's hidden layer, in training
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, block1 and on, conv2, pool5, fc6, fc7.
    Source: Howard et al., Searching for MobileNetV3, ICCV 2019.
    """

    def __init__(
        self,
        size: Size = "large",
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        width: float = 1.0,
        eps: float | None = None,
        dropout: float = 0.2,
        preparation: CenterCrop | None = None,
    ):
        plan = network_plan(size, width=width)
        source = classifier_source(
            pretrained_model,
            WEIGHTS[size],
            mobilenet_v3_names(plan),
            heads=("fc7",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        is_timm = source.file is not None and source.file.publisher == "timm"
        eps = (TIMM_EPS if is_timm else 1e-3) if eps is None else eps
        self.config = MobileNetV3Config(
            size=size, n_class=self.n_class, width=width, eps=eps, dropout=dropout, preparation=self.preparation
        )
        self.dropout = dropout
        with self.init_scope():
            self.extractor = MobileNetV3Extractor(size, width=width, eps=eps)
            self.fc6 = Linear(self.extractor.channels[-1], plan.hidden, initialW=Normal(0.01))
            self.fc7 = Linear(plan.hidden, self.n_class, initialW=Normal(0.01))
        blocks = [f"block{i + 1}" for i in range(len(plan.rows))]
        self.layer_names = ("conv1", *blocks, "conv2", "pool5", "fc6", "fc7")
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = x
        for name, layer in zip(self.layer_names, self.extractor.layers):
            h = layer(h)
            yield name, h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        h = F.hard_swish(self.fc6(h))
        yield "fc6", h
        yield "fc7", self.fc7(F.dropout(h, self.dropout))


MobileNetV3Large = classifier_variant("MobileNetV3Large", partial(MobileNetV3, "large"), "A large `MobileNetV3`")
MobileNetV3Small = classifier_variant("MobileNetV3Small", partial(MobileNetV3, "small"), "A small `MobileNetV3`")
