"""The training recipes of Faster R-CNN on VGG16 and of Light-Head R-CNN."""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.geometry.anchors import grid_anchors
from cvzoo.geometry.fit_anchors import cluster_boxes
from cvzoo.links.link import Link
from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.train_chain import FasterRCNNTrainChain
from cvzoo.links.model.faster_rcnn.transform import FasterRCNNTransform
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101
from cvzoo.links.model.light_head_rcnn.train_chain import LightHeadRCNNTrainChain
from cvzoo.links.model.retinanet.augmentation import collate_photos
from cvzoo.reporting.counted import counted
from cvzoo.training.recipes.detection_recipe import AbstractDetectionRecipe
from cvzoo.training.recipes.images import denormalized
from cvzoo.training.recipes.recipe import AbstractRecipe, RecipeModel, Splits
from cvzoo.training.run.anchor_reach import Anchors
from cvzoo.typing.aliases import Array, Image, Size
from cvzoo.visualizations.draw_bbox import draw_bbox


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractTwoStageNetwork(AbstractConfig):
    """A two-stage detector on a single feature map; the fields are arguments of its class. Raises ValueRangeError."""

    min_size: int = count_field(600, help="short side of the resized image", unit="pixels", group="preparation")
    max_size: int = count_field(
        1000, help="maximum of the resized image's long side", unit="pixels", group="preparation"
    )
    anchor_scales: tuple[float, ...] = config_field(
        (8, 16, 32), help="sides of anchors, of 16 pixels each", group="RPN", above=0
    )
    base_channels: int = count_field(64, help="channels of the backbone's first convolution", group="backbone")
    rpn_channels: int = count_field(512, help="channels of the region proposal network", group="RPN")

    def check_together(self) -> None:
        """Raises ValueRangeError unless the sides are in order."""
        self.require(self.min_size <= self.max_size, "min_size", "not over max_size")


@dataclasses.dataclass(frozen=True, kw_only=True)
class FasterRCNNVGG16Network(AbstractTwoStageNetwork):
    """A Faster R-CNN on VGG16. Raises ValueRangeError."""

    fc_channels: int = count_field(4096, help="units of the fully connected layers", group="box head")


@dataclasses.dataclass(frozen=True, kw_only=True)
class LightHeadNetwork(AbstractTwoStageNetwork):
    """A Light-Head R-CNN. Raises ValueRangeError."""

    min_size: int = count_field(800, help="short side of the resized image", unit="pixels", group="preparation")
    max_size: int = count_field(
        1333, help="maximum of the resized image's long side", unit="pixels", group="preparation"
    )
    anchor_scales: tuple[float, ...] = config_field(
        (2, 4, 8, 16, 32), help="sides of anchors, of 16 pixels each", group="RPN", above=0
    )
    fc_channels: int = count_field(2048, help="units of the fully connected layer", group="box head")
    n_layer: int = count_field(101, help="depth of the ResNet", group="backbone")
    mid_channels: int = count_field(256, help="channels between the large separable convolutions", group="box head")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractTwoStageRecipe(AbstractDetectionRecipe, abc.ABC):
    """A recipe of a two-stage detector on a single feature map."""

    model: Any = config_field(help="the network", group="model")
    batch_size: int = config_field(2, help="images in a batch", unit="images", group="schedule", at_least=1)
    optimizer: Literal["adamw", "adam", "sgd", "nesterov"] = config_field(
        "sgd", help="optimizer; sgd has momentum, and so has nesterov", group="optimizer"
    )
    lr: float = config_field(2e-3, help="learning rate after the warm-up", group="optimizer", above=0)
    weight_decay: float = config_field(5e-4, help="weight decay, not of vectors", group="optimizer", at_least=0)
    schedule: Literal["cosine", "step", "poly", "constant"] = config_field(
        "step", help="course of the learning rate after the warm-up", group="schedule"
    )
    scales: tuple[float, ...] = config_field(
        (1.0,), help="short sides in training, as fractions of min_size", group="augmentation", above=0, at_most=4
    )
    flip: bool = config_field(True, help="whether images are flipped horizontally at random", group="augmentation")

    def check_together(self) -> None:
        """Raises ValueRangeError for no scales."""
        super().check_together()
        self.require(len(self.scales) > 0, "scales", "at least one")

    @property
    def mosaic_size(self) -> Size:
        """(H, W) of mosaics: a usual image's in inference."""
        return self.model.min_size, min(self.model.min_size * 4 // 3, self.model.max_size)

    def anchors(self, model: RecipeModel) -> Anchors:
        """Those of the region proposal network."""
        rpn = model.rpn

        def boxes(size: Sequence[int]) -> Array:
            grid = [-(-side // rpn.feat_stride) for side in size]
            return grid_anchors(rpn.anchor_base, grid, (rpn.feat_stride, rpn.feat_stride))

        def settings(bbox: Array) -> Mapping[str, Any]:
            # squares of the boxes' areas: the ratios stay as they are
            side = np.sqrt((bbox[:, 2:] - bbox[:, :2]).prod(axis=1))
            n = min(len(self.model.anchor_scales), len(np.unique(side)))
            centers = cluster_boxes(np.stack([side, side], axis=1), n)[:, 0]
            return {"model.anchor_scales": [round(float(center) / 16, 2) for center in centers]}

        return Anchors(boxes, settings=settings)

    def examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> TransformDataset:
        train = self.mixed(train, self.mosaic_size)
        transform = FasterRCNNTransform(model, x_flip=self.flip, scales=self.scales)
        return TransformDataset(train, ("img", "bbox", "label", "scale", "size"), transform)

    def converter(self, batch: Sequence[Any], device: str | int | None = None) -> Any:
        """Images of different sizes are padded."""
        return collate_photos(batch, device)

    def draw_example(
        self, example: tuple[Array, ...], model: RecipeModel, label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """The image with its boxes, and their number."""
        img, bbox, label, *_ = example
        drawn = draw_bbox(denormalized(img, mean=model.mean, std=1), bbox, label, label_names=label_names)
        return drawn, counted(len(bbox), "box", "boxes")

    def with_size(self, side: int) -> AbstractRecipe:
        """The short side of an image; the long one up to 5/3 of it."""
        return dataclasses.replace(self, model=dataclasses.replace(self.model, min_size=side, max_size=side * 5 // 3))


@dataclasses.dataclass(frozen=True, kw_only=True)
class FasterRCNNVGG16Recipe(AbstractTwoStageRecipe):
    """All settings of the training of a Faster R-CNN on VGG16.

    Source: Ren et al., Faster R-CNN, 2015, section 3; the end-to-end schedule of ChainerCV's script. Where we differ:
    batches of two.
    """

    model: FasterRCNNVGG16Network = config_field(FasterRCNNVGG16Network(), help="the network", group="model")

    def summary(self) -> str:
        return f"Faster R-CNN on VGG16, short side of {self.model.min_size} pixels"

    def build_model(self, label_names: Sequence[str]) -> FasterRCNNVGG16:
        return FasterRCNNVGG16(None, self.pretrained, label_names=label_names, **vars(self.model))

    def build_loss(self, model: RecipeModel, splits: Splits) -> Link:
        return FasterRCNNTrainChain(model)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LightHeadRCNNRecipe(AbstractTwoStageRecipe):
    """All settings of the training of a Light-Head R-CNN.

    Source: Li et al., Light-Head R-CNN, 2017, section 4.1; online hard example mining as there.
    """

    model: LightHeadNetwork = config_field(LightHeadNetwork(), help="the network", group="model")
    hard_regions: int = config_field(
        256, help="regions of the highest loss in each image, which are learned", group="loss", at_least=1
    )

    def summary(self) -> str:
        return f"Light-Head R-CNN on ResNet-{self.model.n_layer}, short side of {self.model.min_size} pixels"

    def build_model(self, label_names: Sequence[str]) -> LightHeadRCNNResNet101:
        return LightHeadRCNNResNet101(None, self.pretrained, label_names=label_names, **vars(self.model))

    def build_loss(self, model: RecipeModel, splits: Splits) -> Link:
        return LightHeadRCNNTrainChain(model, n_ohem_sample=self.hard_regions)


FASTER_RCNN_RECIPES: Mapping[str, AbstractRecipe] = MappingProxyType(
    {
        "faster_rcnn_vgg16": FasterRCNNVGG16Recipe(pretrained="imagenet"),
        "light_head_rcnn_resnet101": LightHeadRCNNRecipe(pretrained="imagenet"),
    }
)
