"""The training recipe of YOLOv3, and what it shares with darknet's detectors."""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.geometry.fit_anchors import cluster_boxes
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.decoding.grid_cells import RegionHead, YoloHead
from cvzoo.links.model.dense_heads import prior_bias
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.retinanet.augmentation import collate_photos
from cvzoo.links.model.yolo.augmentation import YOLOTransform
from cvzoo.links.model.yolo.loss import YOLOLoss
from cvzoo.links.model.yolo.preparation import Fit
from cvzoo.links.model.yolo.yolo_v3 import ANCHORS, YOLOv3
from cvzoo.training.recipes.detection_recipe import AbstractDetectionRecipe, draw_boxes
from cvzoo.training.recipes.recipe import AbstractRecipe, RecipeModel, Splits
from cvzoo.training.run.anchor_reach import Anchors
from cvzoo.typing.aliases import Array, Image, Size

Shapes = tuple[tuple[tuple[float, float], ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class YOLOv3Network(AbstractConfig):
    """Configuration of a YOLOv3 without its classes, which are those of the data."""

    insize: int = count_field(
        416, help="height and width of the input, a multiple of 32", unit="pixels", at_least=32, group="preparation"
    )
    base_channels: int = count_field(
        32, help="channels of the first convolution; the others in proportion", group="backbone"
    )
    blocks: tuple[int, int, int, int, int] = config_field(
        (1, 2, 8, 8, 4), help="residual blocks of Darknet-53's stages", at_least=0, at_most=100, group="backbone"
    )
    anchors: Shapes = config_field(
        ANCHORS,
        help="(height, width) each, three heads of three, the coarsest grid first; cvzoo data anchors finds them",
        unit="pixels of the network's input",
        above=0,
        group="anchors",
    )

    def check_together(self) -> None:
        """Raises ValueRangeError unless there are anchors of three heads and the input has whole cells."""
        self.require(self.insize % 32 == 0, "insize", "a multiple of 32")
        self.require(len(self.anchors) == 3, "anchors", "those of three heads")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractYOLORecipe(AbstractDetectionRecipe, abc.ABC):
    """A recipe of a detector with grid cells, for images of one size; subclasses build the model."""

    batch_size: int = config_field(8, help="images in a batch", unit="images", group="schedule", at_least=1)
    weight_decay: float = config_field(5e-5, help="weight decay, not of vectors", group="optimizer", at_least=0)
    sizes: tuple[int, ...] | None = config_field(
        None,
        help="sides, multiples of 32, to one of which every ten batches are resized; None: all are of the input's size",
        unit="pixels",
        group="augmentation",
        at_least=32,
    )
    ignore_thresh: float = config_field(
        0.7, help="IoU from which a prediction without an object of its own is no background", group="loss", at_least=0
    )
    prior: float = config_field(
        0.01,
        help="initial objectness of all predictions of heads that start from random weights",
        group="loss",
        above=0,
        below=1,
    )
    augment: bool = config_field(True, help="whether colors, scale, crop and flip are random", group="augmentation")
    optimizer: Literal["adamw", "adam", "sgd", "nesterov"] = config_field(
        "adamw", help="optimizer; sgd has momentum, and so has nesterov", group="optimizer"
    )

    def check_together(self) -> None:
        """Raises ValueRangeError for an unknown metric, or a size of no whole cells."""
        super().check_together()
        self.require(not any(side % 32 for side in self.sizes or ()), "sizes", "multiples of 32")

    def start_heads(self, convs: Sequence[Convolution2D], heads: Sequence[YoloHead | RegionHead]) -> None:
        """Set the objectness of heads with random weights to `prior`; convs: the last convolution of each.

        Most predictions are of background: at an objectness of 1/2 they alone would be the loss of the first epochs.
        """
        for conv, head in zip(convs, heads):
            if conv.b is None:
                continue
            bias = conv.b.array
            if not bias.any():  # trained ones are not all zero
                bias.reshape(len(head.anchors), -1)[:, 4] = prior_bias(self.prior)

    def build_loss(self, model: RecipeModel, splits: Splits) -> YOLOLoss:
        return YOLOLoss(model, ignore_thresh=self.ignore_thresh, sizes=self.sizes, seed=self.seed)

    def anchors(self, model: RecipeModel) -> Anchors | None:
        """Of each object the loss takes the anchor of the most similar shape; None for anchors in cells."""
        if any(isinstance(head, RegionHead) for head in model.heads):
            return None
        sides = np.array([side for head in model.heads for side in head.anchors], np.float32)
        return Anchors(
            lambda size: np.concatenate([-sides, sides], axis=1) / 2, by_shape=True, settings=self.anchor_settings
        )

    def anchor_settings(self, bbox: Array) -> Mapping[str, Any]:
        """Settings whose anchors fit these boxes better, pixels of the input; none unless the family says otherwise."""
        return {}

    def examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> TransformDataset:
        largest = max(self.sizes or (0,))
        size: Size = (largest, largest) if self.sizes else model.preparation.size
        fit: Fit = "stretch" if isinstance(model.preparation, Stretch) else "letterbox"
        train = self.mixed(train, size)
        transform = YOLOTransform(size, augment=self.augment, fit=fit)
        return TransformDataset(train, ("img", "bbox", "label", "ignored"), transform)

    def converter(self, batch: Sequence[Any], device: str | int | None = None) -> Any:
        """Images are stacked, boxes are lists."""
        return collate_photos(batch, device)

    def draw_example(
        self, example: tuple[Array, ...], model: RecipeModel, label_names: Sequence[str]
    ) -> tuple[Image, str]:
        return draw_boxes(example, label_names, mean=0, std=255)


@dataclasses.dataclass(frozen=True, kw_only=True)
class YOLOv3Recipe(AbstractYOLORecipe):
    """All settings of a YOLOv3's training.

    Source: Redmon and Farhadi, YOLOv3: An Incremental Improvement, 2018. Where we differ: AdamW with a cosine.
    """

    model: YOLOv3Network = config_field(help="the network", group="model")

    def summary(self) -> str:
        depth, side = 7 + 2 * sum(self.model.blocks), self.model.insize
        return f"YOLOv3 on Darknet-{depth}, {side} x {side} pixels"

    def build_model(self, label_names: Sequence[str]) -> YOLOv3:
        m = self.model
        model = YOLOv3(
            None,
            self.pretrained,
            label_names=label_names,
            anchors=m.anchors,
            insize=m.insize,
            base_channels=m.base_channels,
            blocks=m.blocks,
        )
        self.start_heads([branch.out for branch in (model.branch32, model.branch16, model.branch8)], model.heads)
        return model

    def anchor_settings(self, bbox: Array) -> Mapping[str, Any]:
        """Clusters of the boxes' sides, the largest of the coarsest grid, which is the first head."""
        side = bbox[:, 2:] - bbox[:, :2]
        counts = [len(head) for head in self.model.anchors]
        if len(np.unique(side, axis=0)) < sum(counts):
            return {}
        ascending = [[round(float(each), 1) for each in pair] for pair in cluster_boxes(side, sum(counts))]
        starts = np.cumsum(counts[::-1])[::-1] - counts
        return {"model.anchors": [ascending[start : start + n] for start, n in zip(starts, counts)]}

    def with_size(self, side: int) -> AbstractRecipe:
        """The side of the network's input; anchors change in proportion."""
        scale = side / self.model.insize
        anchors = tuple(tuple((y * scale, x * scale) for y, x in head) for head in self.model.anchors)
        return dataclasses.replace(self, model=dataclasses.replace(self.model, insize=side, anchors=anchors))


_SMALL = YOLOv3Network(base_channels=8, blocks=(1, 1, 2, 2, 1))
YOLO_V3_RECIPES: Mapping[str, YOLOv3Recipe] = MappingProxyType(
    {
        "yolo_v3": YOLOv3Recipe(model=YOLOv3Network(), pretrained="coco", lr=1e-4),
        "yolo_v3_small": YOLOv3Recipe(model=_SMALL),
    }
)
