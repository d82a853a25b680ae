"""Base class of the recipes of detectors: data, metrics, validation, drawings."""

import abc
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from cvzoo.datasets.bbox_splits import BboxSplits, bbox_splits, means_coco, split_specs
from cvzoo.datasets.instance_splits import instance_splits
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.mixed_dataset import MixedDataset
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.evaluators.detection_coco_evaluator import DetectionCOCOEvaluator
from cvzoo.evaluations.evaluators.detection_voc_evaluator import DetectionVOCEvaluator
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.geometry.fit_anchors import fit_anchors
from cvzoo.images.read_image_size import read_image_size
from cvzoo.iterators.balanced_samplers import GroupedOrderSampler, aspect_ratio_groups
from cvzoo.iterators.order_samplers import Sampler
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.model.config import ModelConfig, config_field
from cvzoo.links.model.preparation.abstract import MEAN_OF_255, STD_OF_255
from cvzoo.links.model.retinanet.augmentation import RandomPart, RetinaNetTransform, collate_photos
from cvzoo.links.model.zoo_member import Task
from cvzoo.reporting.counted import counted
from cvzoo.training.recipes.images import denormalized
from cvzoo.training.recipes.recipe import AbstractRecipe, ClassTable, RecipeModel, Splits
from cvzoo.training.run.anchor_reach import Anchors
from cvzoo.transforms.sample.mixes import CopyPaste, MixUp, Mosaic
from cvzoo.typing.aliases import Array, ArrayLike, Image, Size
from cvzoo.visualizations.draw_bbox import draw_bbox

METRICS: Mapping[str, str] = MappingProxyType(
    {"voc": "validation/main/map", "coco": "validation/main/map/iou=0.50:0.95/area=all/max_dets=100"}
)
_PASTED_SCALES = (0.5, 1.5)  # large scale jittering draws from 0.1 to 2, for 500 epochs
DRAWN_SCORE = 0.3  # detections with a lower confidence score are not drawn


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractDetectionRecipe(AbstractRecipe, abc.ABC):
    """A recipe of a detector; difficult and crowded objects are ignored in training and validation.

    metric: "voc", the mAP at an IoU of 0.5 by Pascal VOC's rules, or "coco", the AP over IoUs of 0.50 to 0.95 by COCO's
    """

    task: ClassVar[Task] = "detection"
    metrics: ClassVar[Mapping[str, str]] = METRICS
    usage: ClassVar[str] = "bboxes, labels, scores = model.predict"

    metric: Literal["voc", "coco"] = config_field(
        "voc",
        help="metric that selects the best model: voc: mAP at IoU 0.5 by Pascal VOC's rules; coco: AP over IoU "
        "0.50:0.95 by COCO's",
        group="validation",
    )

    mosaic: float = config_field(
        0.0, help="probability that an example is a mosaic of four images", group="augmentation", at_least=0, at_most=1
    )
    mix_up: float = config_field(
        0.0, help="probability that an example is blended with another", group="augmentation", at_least=0, at_most=1
    )
    copy_paste: float = config_field(
        0.0,
        help="probability that objects of another image are pasted; of data with masks, coco:TRAIN.json,VAL.json",
        group="augmentation",
        at_least=0,
        at_most=1,
    )
    plain_epochs: int = config_field(
        5, help="last epochs without mosaic, mix_up and copy_paste", unit="epochs", group="augmentation", at_least=0
    )

    def mixed(self, train: AbstractSliceableDataset, size: Size) -> AbstractSliceableDataset:
        """The training set with pasted objects, mosaics of this size and blended images, as the recipe has them.

        Raises ConfigError if objects are to be pasted and the data have no masks.
        """
        until = max(self.epochs - self.plain_epochs, 0)
        if self.copy_paste:
            if "mask" not in train.keys:
                raise ConfigError(
                    "copy_paste needs masks, which the data do not have", expected="data=coco:TRAIN.json,VAL.json"
                )
            mix = CopyPaste(scale_range=_PASTED_SCALES)
            train = MixedDataset(train, mix, prob=self.copy_paste, until_epoch=until)
            if self.task == "detection":  # masks have done their part
                train = train.slice[:, ("img", "bbox", "label", "crowded")]
        if self.mosaic:
            train = MixedDataset(train, Mosaic(size), prob=self.mosaic, until_epoch=until)
        if self.mix_up:
            train = MixedDataset(train, MixUp(), prob=self.mix_up, until_epoch=until)
        return train

    def splits(self) -> BboxSplits:
        splits = bbox_splits(self.data)
        if self.copy_paste:
            masks = instance_splits(self.data).train
            return splits._replace(train=masks.slice[:, ("img", "bbox", "label", "crowded", "mask")])
        return splits

    def checked_parts(self) -> tuple[DataSpec, ...]:
        """The parts of the data, whose files and boxes are checked."""
        return split_specs(self.data)

    def with_data(self, data: str) -> AbstractRecipe:
        """COCO's data are scored by COCO's metric, where the task has another one."""
        if "voc" not in self.metrics:
            return dataclasses.replace(self, data=data)
        return dataclasses.replace(self, data=data, metric="coco" if means_coco(data) else "voc")

    def for_validation(self, model: RecipeModel) -> None:
        """Low confidence scores count, too."""
        model.use_preset("evaluate")

    def evaluator(self, model: RecipeModel, splits: Splits) -> DetectionCOCOEvaluator | DetectionVOCEvaluator:
        """The evaluator on the validation set by the recipe's metric; COCO's areas are those of the boxes."""
        val, label_names = splits.val, splits.label_names
        if self.metric == "voc":
            return DetectionVOCEvaluator(_in_order(val), model, label_names=label_names)
        val = TransformDataset(val, ("img", "bbox", "label", "area", "crowded"), _with_area)
        return DetectionCOCOEvaluator(_in_order(val), model, label_names=label_names)

    def draw_prediction(
        self, model: RecipeModel, example: tuple[Array, ...], label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """Detections of a score of 0.3 or more."""
        img = example[0]
        (bbox,), (label,), (score,) = model.predict([img])
        shown = score >= DRAWN_SCORE
        drawn = draw_bbox(img, bbox[shown], label[shown], score[shown], label_names=label_names)
        return drawn, f"{counted(int(shown.sum()), 'box', 'boxes')}, score {DRAWN_SCORE} or more"

    def class_table(self, result: Any, label_names: Sequence[str]) -> ClassTable:
        """The average precision of each class."""
        if isinstance(result, Mapping):  # COCO's
            rows = [row | {"name": label_names[row["id"]]} for row in result["coco_eval"].per_class()]
        else:
            of_classes = zip(label_names, result.n_positive, result.ap)
            rows = [{"name": name, "n_objects": int(n), "AP": float(ap)} for name, n, ap in of_classes]
        return ClassTable(rows, ("AP",), "objects")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractPyramidRecipe(AbstractDetectionRecipe, abc.ABC):
    """A recipe of a detector with a feature pyramid, for images of any size; subclasses build model and loss.

    model: its min_size and max_size are those of inference, and of training, too
    """

    model: Any = config_field(help="the network", group="model")
    scales: tuple[float, ...] = config_field(
        (0.8, 0.9, 1.0), help="short sides in training, as fractions of min_size", group="augmentation", above=0
    )
    jitter: float = config_field(0.2, help="strength of the color jitter", group="augmentation", at_least=0)
    flip: bool = config_field(True, help="whether images are flipped horizontally at random", group="augmentation")
    crop: tuple[float, float] = config_field(
        (1.0, 1.0),
        help="sides of random crops, as fractions of the image's: from, to; boxes of which less than half is left are "
        "ignored",
        group="augmentation",
        above=0,
        at_most=1,
    )
    similar_shapes: bool = config_field(
        False, help="whether a batch has wide or high images only, for less padding", group="data"
    )

    def check_together(self) -> None:
        """Raises ValueRangeError for an unknown metric, or no scale."""
        super().check_together()
        self.require(len(self.scales) > 0, "scales", "at least one")
        self.require(self.crop[0] <= self.crop[1], "crop", "the lower fraction first")

    def order_sampler(self, train: AbstractSliceableDataset) -> Sampler | None:
        """The order of the training set; the sizes of images are read from their files."""
        sampler = super().order_sampler(train)
        if not self.similar_shapes:
            return sampler
        sizes = [read_image_size(train.name(i)) for i in range(len(train))]
        return GroupedOrderSampler(aspect_ratio_groups(sizes), self.batch_size, sampler)

    def examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> TransformDataset:
        transform = RetinaNetTransform(
            self.shorts, self.model.max_size, flip=self.flip, part=self.part, jitter=self.jitter
        )
        return TransformDataset(self.mixed(train, self.mosaic_size), ("img", "bbox", "label", "ignored"), transform)

    def converter(self, batch: Sequence[Any], device: str | int | None = None) -> Any:
        """Images of different sizes are padded."""
        return collate_photos(batch, device)

    def draw_example(
        self, example: tuple[Array, ...], model: RecipeModel, label_names: Sequence[str]
    ) -> tuple[Image, str]:
        return draw_boxes(example, label_names, mean=MEAN_OF_255, std=STD_OF_255)

    def with_pretrained(self, pretrained: str | None) -> AbstractRecipe:
        """Normalizations of a backbone trained on ImageNet are frozen: batches of few images would change them.

        Those of random weights are not.
        """
        recipe = dataclasses.replace(self, pretrained=pretrained)
        norm = self.model.norm
        if pretrained is None:
            norm = "batch" if norm == "frozen" else norm
        elif pretrained.startswith("imagenet"):
            norm = "frozen"
        return dataclasses.replace(recipe, model=dataclasses.replace(self.model, norm=norm))

    def with_size(self, side: int) -> AbstractRecipe:
        """The short side of an image; the long one up to 5/3 of it."""
        if side < 64:
            raise ConfigError("--size is too small", expected="64 or more", got=side)
        return dataclasses.replace(self, model=dataclasses.replace(self.model, min_size=side, max_size=side * 5 // 3))

    @property
    def mosaic_size(self) -> Size:
        """(H, W) of mosaics: a usual image's in inference."""
        side = self.model.min_size
        return side, min(side * 4 // 3, self.model.max_size)

    @property
    def part(self) -> RandomPart | None:
        """The random crop before the resize; None: whole images."""
        return None if self.crop == (1, 1) else RandomPart(self.crop)

    @property
    def shorts(self) -> tuple[int, ...]:
        """Short sides in training, pixels."""
        return tuple(max(round(scale * self.model.min_size), 32) for scale in self.scales)


def pyramid_anchors(boxes: Callable[[ModelConfig], Array], config: ModelConfig, strides: Sequence[int]) -> Anchors:
    """The anchors of a feature pyramid, and settings that fit boxes.

    boxes: as in Anchors; config: has anchor_sizes and anchor_ratios; strides: of the levels, pixels
    """

    def settings(bbox: Array) -> Mapping[str, Any]:
        n_size, n_ratio = len(config.anchor_sizes[0]), len(config.anchor_ratios)
        fit = fit_anchors(bbox, strides, n_size=n_size, n_ratio=n_ratio)
        return {"model.anchor_sizes": fit.sizes, "model.anchor_ratios": fit.ratios}

    return Anchors(boxes, settings=settings)


def draw_boxes(
    example: tuple[Array, ...], label_names: Sequence[str], *, mean: ArrayLike, std: ArrayLike
) -> tuple[Image, str]:
    """A training example (img, bbox, label, ignored) with its boxes, and their number; ignored boxes are not drawn.

    mean, std: of the image's channels, by which it was normalized
    """
    img, bbox, label, ignored = example
    drawn = draw_bbox(denormalized(img, mean=mean, std=std), bbox[~ignored], label[~ignored], label_names=label_names)
    n = int(ignored.sum())
    return drawn, counted(len(bbox) - n, "box", "boxes") + (f", {n} ignored" if n else "")


def _in_order(dataset: AbstractSliceableDataset) -> SerialIterator:
    return SerialIterator(dataset, 4, repeat=False, shuffle=False)


def _with_area(example: tuple[Array, ...]) -> tuple[Array, ...]:
    img, bbox, label, *flags = example
    return img, bbox, label, bbox_area(bbox), flags[0] if flags else np.zeros(len(bbox), bool)
