"""Swin Transformer and Swin Transformer V2, image classifiers (Liu et al., 2021 and 2022)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import partial

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.connection.layer_normalization import LayerNormalization2D
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, preparation_field
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.swin.extractor import EPS, Size, SwinDimensions, SwinExtractor, plan_of
from cvzoo.links.model.swin.weights import WEIGHTS, swin_names
from cvzoo.links.model.variant import classifier_variant
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class SwinConfig(AbstractConfig):
    """What a Swin Transformer is built from; its fields are the constructor's arguments."""

    size: Size = config_field(help="the published variant")
    n_class: int = classes_field()
    plan: SwinDimensions = config_field(help="depths and widths")
    preparation: CenterCrop = preparation_field()


class SwinTransformer(AbstractClassifier):
    """Swin Transformer, versions 1 and 2, an image classifier (Liu et al., 2021 and 2022).

    size: "t", "s" or "b" (tiny, small, base), or "v2_t", "v2_s", "v2_b"
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet" (torchvision's), "imagenet_ms" ("t", "s", "b") or "imagenet_22k" ("b", pretrained on
        ImageNet-22k; both are the authors'), or a path of a file of theirs, of timm's, or one that cvzoo saved
    label_names: class names
    plan: depths and widths other than those of `size`
    preparation: how an image is preprocessed; None: as the weights were evaluated. Images may have any size.
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: patches, stage1, stage2, stage3, stage4, norm, pool, fc.
    Source: Liu et al., Swin Transformer, ICCV 2021; Liu et al., Swin Transformer V2, CVPR 2022.
    """

    def __init__(
        self,
        size: Size = "t",
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        plan: SwinDimensions | None = None,
        preparation: CenterCrop | None = None,
    ):
        plan = plan_of(size, plan)
        records = WEIGHTS[size]
        source = classifier_source(
            pretrained_model,
            records,
            swin_names(plan.window),
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=records["imagenet"].preparation,
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.size = size
        self.config = SwinConfig(size=size, n_class=self.n_class, plan=plan, preparation=self.preparation)
        self.plan = plan
        with self.init_scope():
            self.extractor = SwinExtractor(plan)
            self.norm = LayerNormalization2D(self.extractor.channels[-1], EPS)
            self.fc = Linear(self.extractor.channels[-1], self.n_class, initialW=Normal(0.02))
        stages = [f"stage{i + 1}" for i in range(self.extractor.n_stage)]
        self.layer_names = ("patches", *stages, "norm", "pool", "fc")
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = self.extractor.patches(x)
        yield "patches", h
        for i in range(self.extractor.n_stage):
            h = self.extractor.stage(i, h)
            yield f"stage{i + 1}", h
        h = self.norm(h)
        yield "norm", h
        h = F.global_average_pooling_2d(h)
        yield "pool", h
        yield "fc", self.fc(h)


SwinT = classifier_variant(
    "SwinT",
    partial(SwinTransformer, "t"),
    "The first paper's tiny `SwinTransformer`, 28 million parameters",
)
SwinS = classifier_variant(
    "SwinS",
    partial(SwinTransformer, "s"),
    "The first paper's small `SwinTransformer`, 50 million parameters",
)
SwinB = classifier_variant(
    "SwinB",
    partial(SwinTransformer, "b"),
    "The first paper's base `SwinTransformer`, 88 million parameters",
)
SwinV2T = classifier_variant(
    "SwinV2T",
    partial(SwinTransformer, "v2_t"),
    "The second paper's tiny `SwinTransformer`, 28 million parameters",
)
SwinV2S = classifier_variant(
    "SwinV2S",
    partial(SwinTransformer, "v2_s"),
    "The second paper's small `SwinTransformer`, 50 million parameters",
)
SwinV2B = classifier_variant(
    "SwinV2B",
    partial(SwinTransformer, "v2_b"),
    "The second paper's base `SwinTransformer`, 88 million parameters",
)
