"""EfficientNet and EfficientNetV2, image classifiers (Tan and Le, 2019 and 2021)."""

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
from cvzoo.links.model.efficientnet.extractor import VARIANTS, EfficientNetExtractor, network_plan
from cvzoo.links.model.efficientnet.weights import PREPARATIONS, WEIGHTS, efficientnet_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.variant import classifier_variant
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class EfficientNetConfig(AbstractConfig):
    """What an EfficientNet is built from; its fields are the constructor's arguments."""

    variant: str = config_field(help="b0 to b7, v2_s, v2_m or v2_l")
    n_class: int = classes_field()
    width: float | None = width_field()
    depth: float | None = config_field(
        help="times as many blocks as published; None: the variant's", above=0, at_most=100
    )
    drop: float = config_field(
        help="with what probability the last block is left out in training", at_least=0, at_most=1
    )
    dropout: float = dropout_field()
    preparation: CenterCrop = preparation_field()


class EfficientNet(AbstractClassifier):
    """EfficientNet and EfficientNetV2, image classifiers (Tan and Le, 2019 and 2021).

    variant: "b0" to "b7", "v2_s", "v2_m" or "v2_l"
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet", "imagenet_v2" ("b1"), "imagenet_timm" ("b0" to "b4"), or a path of a file of
        torchvision or timm (without fused blocks and with our eps) or one that cvzoo saved
    label_names: class names
    width, depth, drop: as in `EfficientNetExtractor`
    dropout: ratio of the pooled features, in training; None: the variant's
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, stage1 and on, conv2, pool5, fc6.
    Source: Tan and Le, EfficientNet, ICML 2019, and EfficientNetV2, ICML 2021.
    """

    def __init__(
        self,
        variant: str = "b0",
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        width: float | None = None,
        depth: float | None = None,
        drop: float = 0.2,
        dropout: float | None = None,
        preparation: CenterCrop | None = None,
    ):
        plan = network_plan(variant, width=width, depth=depth)
        source = classifier_source(
            pretrained_model,
            WEIGHTS[variant],
            efficientnet_names(plan),
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=PREPARATIONS[variant],
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation

        self.dropout = VARIANTS[variant].dropout if dropout is None else dropout
        self.config = EfficientNetConfig(
            variant=variant,
            n_class=self.n_class,
            width=width,
            depth=depth,
            drop=drop,
            dropout=self.dropout,
            preparation=self.preparation,
        )
        with self.init_scope():
            self.extractor = EfficientNetExtractor(variant, width=width, depth=depth, drop=drop)
            self.fc = Linear(plan.last, self.n_class, initialW=Normal(0.01))
        stages = [f"stage{i + 1}" for i in range(len(plan.stages))]
        self.layer_names = ("conv1", *stages, "conv2", "pool5", "fc6")
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = self.extractor.stem(x)
        yield "conv1", h
        for i, stage in enumerate(self.extractor.stages):
            for block in stage.children():
                h = block(h)
            yield f"stage{i + 1}", h
        h = self.extractor.last(h)
        yield "conv2", h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(F.dropout(h, self.dropout))


EfficientNetB0 = classifier_variant("EfficientNetB0", partial(EfficientNet, "b0"), "An `EfficientNet` B0")
EfficientNetB1 = classifier_variant("EfficientNetB1", partial(EfficientNet, "b1"), "An `EfficientNet` B1")
EfficientNetB2 = classifier_variant("EfficientNetB2", partial(EfficientNet, "b2"), "An `EfficientNet` B2")
EfficientNetB3 = classifier_variant("EfficientNetB3", partial(EfficientNet, "b3"), "An `EfficientNet` B3")
EfficientNetB4 = classifier_variant("EfficientNetB4", partial(EfficientNet, "b4"), "An `EfficientNet` B4")
EfficientNetB5 = classifier_variant("EfficientNetB5", partial(EfficientNet, "b5"), "An `EfficientNet` B5")
EfficientNetB6 = classifier_variant("EfficientNetB6", partial(EfficientNet, "b6"), "An `EfficientNet` B6")
EfficientNetB7 = classifier_variant("EfficientNetB7", partial(EfficientNet, "b7"), "An `EfficientNet` B7")
EfficientNetV2S = classifier_variant("EfficientNetV2S", partial(EfficientNet, "v2_s"), "An `EfficientNet` V2-S")
EfficientNetV2M = classifier_variant("EfficientNetV2M", partial(EfficientNet, "v2_m"), "An `EfficientNet` V2-M")
EfficientNetV2L = classifier_variant("EfficientNetV2L", partial(EfficientNet, "v2_l"), "An `EfficientNet` V2-L")
