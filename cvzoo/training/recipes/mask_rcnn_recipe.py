"""The training recipe of Mask R-CNN."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Literal

from cvzoo.datasets.instance_splits import InstanceSplits, instance_splits
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.evaluations.evaluators.instance_segmentation_coco_evaluator import InstanceSegmentationCOCOEvaluator
from cvzoo.links.model.config import config_field
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.faster_rcnn_fpn.loss import RegionSampling
from cvzoo.links.model.mask_rcnn.augmentation import MaskRCNNTransform
from cvzoo.links.model.mask_rcnn.loss import MaskRCNNFPNLoss
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskHeadConfig, MaskRCNNFPN
from cvzoo.links.model.zoo_member import Task
from cvzoo.training.recipes.detection_recipe import AbstractPyramidRecipe
from cvzoo.training.recipes.faster_rcnn_fpn_recipe import SMALL, proposal_anchors, region_lr_field, regions_field
from cvzoo.training.recipes.images import denormalized
from cvzoo.training.recipes.instance_recipe import (
    MASK_METRIC_HELP,
    MASK_METRICS,
    checked_mask_parts,
    draw_found_masks,
    draw_masks,
    mask_evaluator,
)
from cvzoo.training.recipes.recipe import AbstractRecipe, RecipeModel, Splits
from cvzoo.training.run.anchor_reach import Anchors
from cvzoo.typing.aliases import Array, Image


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaskRCNNRecipe(AbstractPyramidRecipe):
    """All settings of the training of a Mask R-CNN on a feature pyramid; crowds are ignored.

    Source: He et al., Mask R-CNN, ICCV 2017, section 3.1. Where we differ: AdamW with a cosine, images at three scales.
    """

    task: ClassVar[Task] = "instance segmentation"
    metrics: ClassVar[Mapping[str, str]] = MASK_METRICS
    usage: ClassVar[str] = "masks, labels, scores = model.predict"

    model: FasterRCNNFPNConfig = config_field(help="the detector", group="model")
    head: MaskHeadConfig = config_field(MaskHeadConfig(), help="the mask head", group="model")
    lr: float = region_lr_field()
    metric: Literal["coco"] = config_field("coco", help=MASK_METRIC_HELP, group="validation")
    regions: int = regions_field()
    jitter: float = config_field(0.0, help="strength of the color jitter", group="augmentation", at_least=0)

    def summary(self) -> str:
        return f"Mask R-CNN with FPN on ResNet-{self.model.n_layer}, short side of {self.model.min_size} pixels"

    def splits(self) -> InstanceSplits:  # type: ignore[override]  # masks instead of boxes
        return instance_splits(self.data)

    def checked_parts(self) -> tuple[DataSpec, ...]:
        return checked_mask_parts(self.data)

    def build_model(self, label_names: Sequence[str]) -> MaskRCNNFPN:
        return MaskRCNNFPN(None, self.pretrained, label_names=label_names, settings=self.model, mask_settings=self.head)

    def anchors(self, model: RecipeModel) -> Anchors:
        """Those of the region proposal network."""
        return proposal_anchors(self.model)

    def build_loss(self, model: RecipeModel, splits: Splits) -> MaskRCNNFPNLoss:
        return MaskRCNNFPNLoss(model, sampling=RegionSampling(n_region=self.regions))

    def examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> TransformDataset:
        transform = MaskRCNNTransform(
            self.shorts,
            self.model.max_size,
            flip=self.flip,
            part=self.part,
            jitter=self.jitter,
            mean=self.model.mean,
            std=self.model.std,
        )
        keys = ("img", "bbox", "label", "mask", "crowded")
        return TransformDataset(self.mixed(train.slice[:, keys], self.mosaic_size), (*keys[:4], "ignored"), transform)

    def evaluator(self, model: RecipeModel, splits: Splits) -> InstanceSegmentationCOCOEvaluator:  # type: ignore[override]
        """COCO's average precision of masks on the validation set."""
        return mask_evaluator(model, splits)

    def draw_example(
        self, example: tuple[Array, ...], model: RecipeModel, label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """The image with boxes and masks, and their number; ignored ones are not drawn."""
        img, bbox, label, mask, ignored = example
        pixels = denormalized(img, mean=self.model.mean, std=self.model.std)
        drawn, caption = draw_masks(pixels, mask[~ignored], bbox[~ignored], label[~ignored], label_names)
        n = int(ignored.sum())
        return drawn, caption + (f", {n} ignored" if n else "")

    def draw_prediction(
        self, model: RecipeModel, example: tuple[Array, ...], label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """Instances of a score of 0.3 or more."""
        return draw_found_masks(model, example[0], label_names)


MASK_RCNN_RECIPES: Mapping[str, AbstractRecipe] = MappingProxyType(
    {
        "mask_rcnn_fpn_resnet18_small": MaskRCNNRecipe(
            model=SMALL, head=MaskHeadConfig(depth=2, channels=64), lr=5e-4
        ).with_pretrained("imagenet"),
        "mask_rcnn_fpn_resnet50": MaskRCNNRecipe(model=FasterRCNNFPNConfig()).with_pretrained("imagenet"),
    }
)
