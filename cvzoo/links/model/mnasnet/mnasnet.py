"""MNASNet, an image classifier (Tan et al., 2019)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import partial

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import (
    AbstractConfig,
    classes_field,
    count_field,
    dropout_field,
    preparation_field,
    width_field,
)
from cvzoo.links.model.mnasnet.extractor import STAGES, MNASNetExtractor
from cvzoo.links.model.mnasnet.weights import NAMES, WEIGHTS
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.variant import classifier_variant
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class MNASNetConfig(AbstractConfig):
    """What an MNASNet is built from; its fields are the constructor's arguments."""

    width: float = width_field()
    n_class: int = classes_field()
    last: int = count_field(help="channels of the last convolution")
    dropout: float = dropout_field()
    preparation: CenterCrop = preparation_field()


class MNASNet(AbstractClassifier):
    """MNASNet, an image classifier found by architecture search for phones (Tan et al., 2019).

    width, last: as in `MNASNetExtractor`; there are weights for a width of 0.5, 0.75, 1.0 and 1.3
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet", "imagenet_timm" (width 1.0), or a path of a file of torchvision or timm or one that
        cvzoo saved
    label_names: class names
    dropout: ratio of the pooled features, in training
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, stage1 to stage7, conv2, pool5, fc6.
    Source: Tan et al., MnasNet, CVPR 2019 (B1).
    """

    layer_names = ("conv1", *(f"stage{i + 1}" for i in range(len(STAGES))), "conv2", "pool5", "fc6")

    def __init__(
        self,
        width: float = 1.0,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        last: int = 1280,
        dropout: float = 0.2,
        preparation: CenterCrop | None = None,
    ):
        source = classifier_source(
            pretrained_model,
            WEIGHTS.get(width, {}),
            NAMES,
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.config = MNASNetConfig(
            width=width, n_class=self.n_class, last=last, dropout=dropout, preparation=self.preparation
        )
        self.dropout = dropout
        with self.init_scope():
            self.extractor = MNASNetExtractor(width, last=last)
            self.fc = Linear(last, self.n_class, initialW=Normal(0.01))
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = as_variable(x)
        for name, links in zip(self.layer_names, self.extractor.layers):
            for link in links:
                h = link(h)
            yield name, h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(F.dropout(h, self.dropout))


MNASNet0_5 = classifier_variant("MNASNet0_5", partial(MNASNet, 0.5), "An `MNASNet` of width 0.5")
MNASNet0_75 = classifier_variant("MNASNet0_75", partial(MNASNet, 0.75), "An `MNASNet` of width 0.75")
MNASNet1_0 = classifier_variant("MNASNet1_0", partial(MNASNet, 1.0), "An `MNASNet` of width 1.0")
MNASNet1_3 = classifier_variant("MNASNet1_3", partial(MNASNet, 1.3), "An `MNASNet` of width 1.3")
