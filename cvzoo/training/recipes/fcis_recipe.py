"""The training recipe of FCIS."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Literal

from cvzoo.datasets.instance_splits import InstanceSplits, instance_splits
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.evaluations.evaluators.instance_segmentation_coco_evaluator import InstanceSegmentationCOCOEvaluator
from cvzoo.geometry.mask_to_bbox import mask_to_bbox
from cvzoo.links.link import Link
from cvzoo.links.model.config import config_field, count_field
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcis.train_chain import FCISTrainChain
from cvzoo.links.model.fcis.transform import FCISTransform
from cvzoo.links.model.zoo_member import Task
from cvzoo.training.recipes.faster_rcnn_recipe import AbstractTwoStageNetwork, AbstractTwoStageRecipe
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
from cvzoo.typing.aliases import Array, Image


@dataclasses.dataclass(frozen=True, kw_only=True)
class FCISNetwork(AbstractTwoStageNetwork):
    """An FCIS on a ResNet. Raises ValueRangeError."""

    anchor_scales: tuple[float, ...] = config_field(
        (4, 8, 16, 32), help="sides of anchors, of 16 pixels each", group="RPN", above=0
    )
    n_layer: int = count_field(101, help="depth of the ResNet", group="backbone")
    mid_channels: int = count_field(1024, help="channels of the head's first convolution", group="head")
    roi_size: int = count_field(21, help="cells of a region along a side", group="head")
    group_size: int = count_field(7, help="kinds of cells along a side", group="head")


@dataclasses.dataclass(frozen=True, kw_only=True)
class FCISRecipe(AbstractTwoStageRecipe):
    """All settings of the training of an FCIS; crowds are not learned.

    Source: Li et al., "Fully Convolutional Instance-aware Semantic Segmentation", 2017, section 4. Where we differ:
    regions are sampled at random, as in ChainerCV, in batches of two.
    """

    task: ClassVar[Task] = "instance segmentation"
    metrics: ClassVar[Mapping[str, str]] = MASK_METRICS
    usage: ClassVar[str] = "masks, labels, scores = model.predict"

    model: FCISNetwork = config_field(FCISNetwork(), help="the network", group="model")
    lr: float = config_field(5e-4, help="learning rate after the warm-up", group="optimizer", above=0)
    metric: Literal["coco"] = config_field("coco", help=MASK_METRIC_HELP, group="validation")

    def summary(self) -> str:
        return f"FCIS on ResNet-{self.model.n_layer}, short side of {self.model.min_size} pixels"

    def splits(self) -> InstanceSplits:  # type: ignore[override]  # masks instead of boxes
        return instance_splits(self.data)

    def checked_parts(self) -> tuple[DataSpec, ...]:
        return checked_mask_parts(self.data)

    def build_model(self, label_names: Sequence[str]) -> FCISResNet101:
        return FCISResNet101(None, self.pretrained, label_names=label_names, **vars(self.model))

    def build_loss(self, model: RecipeModel, splits: Splits) -> Link:
        return FCISTrainChain(model)

    def examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> TransformDataset:
        data = self.mixed(train.slice[:, ("img", "mask", "label", "crowded", "bbox")], self.mosaic_size)
        transform = FCISTransform(model, x_flip=self.flip, scales=self.scales)
        return TransformDataset(data, ("img", "mask", "label", "scale", "size"), transform)

    def boxed_examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> TransformDataset:
        """With the boxes around the masks."""
        return TransformDataset(
            self.examples(train, model).slice[:, ("img", "mask", "label")],
            ("img", "bbox", "label"),
            lambda example: (example[0], mask_to_bbox(example[1]), example[2]),
        )

    def evaluator(self, model: RecipeModel, splits: Splits) -> InstanceSegmentationCOCOEvaluator:  # type: ignore[override]
        """COCO's average precision of masks on the validation set."""
        return mask_evaluator(model, splits)

    def draw_example(
        self, example: tuple[Array, ...], model: RecipeModel, label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """The image with masks and the boxes around them, and their number."""
        img, mask, label, *_ = example
        return draw_masks(denormalized(img, mean=model.mean, std=1), mask, mask_to_bbox(mask), label, label_names)

    def draw_prediction(
        self, model: RecipeModel, example: tuple[Array, ...], label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """Instances of a score of 0.3 or more."""
        return draw_found_masks(model, example[0], label_names)


FCIS_RECIPES: Mapping[str, AbstractRecipe] = MappingProxyType({"fcis_resnet101": FCISRecipe(pretrained="imagenet")})
