"""ConvNeXt as a classifier."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.connection.layer_normalization import LayerNormalization
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, preparation_field
from cvzoo.links.model.convnext.extractor import ConvNeXtExtractor
from cvzoo.links.model.convnext.names import NAMES
from cvzoo.links.model.convnext.plan import Plan, Size, plan_of
from cvzoo.links.model.convnext.weights import WEIGHTS
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConvNeXtConfig(AbstractConfig):
    """What a ConvNeXt is built of; its fields are the constructor's arguments."""

    size: Size = config_field(help="the published network that is meant")
    n_class: int = classes_field()
    plan: Plan = config_field(help="depths and widths", inline=True)
    preparation: CenterCrop = preparation_field()


class ConvNeXt(AbstractClassifier):
    """Names what a photo shows.

    size: "tiny", "small", "base" or "large"
    n_class: number of classes; None: as many as the file's, or label_names, else 1000
    pretrained_model: "imagenet" (torchvision's), "imagenet_fb" or "imagenet_22k" (the makers'; the latter trained on
        more photos, for photos of 384 pixels), or a path of a file of theirs, of timm's, or one that cvzoo saved
    label_names: names of the classes
    plan: depths and widths other than those of `size`
    preparation: how a photo is seen; None: as the weights were measured
    Raises ValueRangeError if names and classes do not agree, or there are no such weights or settings;
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
        plan: Plan | None = None,
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

    def stages(self, x: Any) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = self.extractor.stem(x)
        yield "conv1", h
        for i in range(4):
            h = self.extractor.stage(i, h)
            yield f"res{i + 2}", h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(self.norm(h))
