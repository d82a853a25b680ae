"""Base class of the recipes of semantic segmentation networks."""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from cvzoo.datasets.label_map_splits import LabelMapSplits, label_map_splits
from cvzoo.datasets.median_frequency_weights import median_frequency_weights
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.evaluations.evaluators.semantic_segmentation_evaluator import SemanticSegmentationEvaluator
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.model.config import config_field
from cvzoo.links.model.label_map_transform import LabelMapTransform, ResizeExamples
from cvzoo.links.model.pixelwise_softmax_classifier import PixelwiseSoftmaxClassifier
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.links.model.zoo_member import Task
from cvzoo.training.recipes.images import denormalized
from cvzoo.training.recipes.multi_scale import at_scales, batch_scales_field
from cvzoo.training.recipes.recipe import AbstractRecipe, ClassTable, RecipeModel, Splits
from cvzoo.typing.aliases import Array, Image, Size
from cvzoo.visualizations.draw_mask import draw_label_map


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractSegmentationRecipe(AbstractRecipe, abc.ABC):
    """A recipe of a semantic segmentation network; unlabeled pixels are ignored in training and validation."""

    task: ClassVar[Task] = "segmentation"
    metrics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "miou": "validation/main/miou",
            "pixel_accuracy": "validation/main/pixel_accuracy",
            "mean_class_accuracy": "validation/main/mean_class_accuracy",
        }
    )
    usage: ClassVar[str] = "labels = model.predict"

    optimizer: Literal["adamw", "adam", "sgd", "nesterov"] = config_field(
        "sgd", help="optimizer; sgd has momentum, and so has nesterov", group="optimizer"
    )
    lr: float = config_field(0.01, help="learning rate after the warm-up", group="optimizer", above=0)
    weight_decay: float = config_field(1e-4, help="weight decay, not of vectors", group="optimizer", at_least=0)
    schedule: Literal["cosine", "step", "poly", "constant"] = config_field(
        "poly", help="course of the learning rate after the warm-up", group="schedule"
    )
    metric: Literal["miou", "pixel_accuracy", "mean_class_accuracy"] = config_field(
        "miou", help="metric that selects the best model", group="validation"
    )
    scale_range: tuple[float, float] = config_field(
        (0.5, 2.0), help="images are scaled by a random factor: from, to", group="augmentation", above=0
    )
    angle: float = config_field(
        0.0, help="images are rotated by at most this", unit="degrees", group="augmentation", at_least=0
    )
    flip: bool = config_field(True, help="whether images are flipped horizontally at random", group="augmentation")
    batch_scales: tuple[float, ...] = batch_scales_field()
    class_weight: Literal["none", "median_frequency"] = config_field(
        "none", help="weights of classes in the loss: median_frequency: of rare ones more", group="loss"
    )
    aux_weight: float = config_field(
        0.4, help="weight of the losses of auxiliary heads, where the network has such", group="loss", at_least=0
    )

    @abc.abstractmethod
    def build_model(self, label_names: Sequence[str]) -> AbstractSegmenter:
        """The segmentation network for these classes."""

    @property
    @abc.abstractmethod
    def crop_size(self) -> Size | None:
        """(H, W) of the random crops that the network is trained on; None: whole images, which have one size then."""

    def resized(self) -> ResizeExamples:
        """Resizes images before augmentation, as in inference; by default, they are not resized."""
        return ResizeExamples()

    def check_together(self) -> None:
        """Raises ValueRangeError for an unknown metric, or if the range of scales is empty."""
        super().check_together()
        self.require(self.scale_range[0] <= self.scale_range[1], "scale_range", "the lower factor first")

    def splits(self) -> LabelMapSplits:
        return label_map_splits(self.data)

    def build_loss(self, model: RecipeModel, splits: Splits) -> PixelwiseSoftmaxClassifier:
        """The mean cross entropy of the pixels."""
        weights = None
        if self.class_weight == "median_frequency":
            labels = TransformDataset(splits.train, ("img", "label"), self.resized()).slice[:, "label"]
            weights = median_frequency_weights(labels, len(splits.label_names))
        return PixelwiseSoftmaxClassifier(model, class_weight=weights, aux_weight=self.aux_weight)

    def examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> AbstractSliceableDataset:
        resized = TransformDataset(train, ("img", "label"), self.resized())
        transform = LabelMapTransform(
            model, self.crop_size, scale_range=self.scale_range, angle=self.angle, x_flip=self.flip
        )
        examples = TransformDataset(resized, ("img", "label"), transform)
        return at_scales(examples, model, self.batch_scales, self.crop_size)

    def evaluator(self, model: RecipeModel, splits: Splits) -> SemanticSegmentationEvaluator:
        """The evaluator on the validation set, in the images' own size."""
        iterator = SerialIterator(splits.val, 1, repeat=False, shuffle=False)
        return SemanticSegmentationEvaluator(iterator, model, label_names=splits.label_names)

    def draw_example(
        self, example: tuple[Array, ...], model: RecipeModel, label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """A crop tinted in the colors of its classes, and how much of it is labeled."""
        x, label = example
        mean, std = model.preparation.mean_and_std()
        per_255 = model.preparation.arithmetic.endswith("/ 255")
        img = denormalized(x, mean=mean, std=255 * std if per_255 else std)
        img = img[::-1] if model.preparation.channels == "BGR" else img
        return draw_label_map(img, label), f"{np.mean(label >= 0):.0%} labeled"

    def draw_prediction(
        self, model: RecipeModel, example: tuple[Array, ...], label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """The image tinted in the colors of its classes, and the largest of them."""
        img = example[0]
        (label,) = model.predict([img])
        counts = np.bincount(np.maximum(label, 0).ravel(), minlength=len(label_names))
        largest = np.argsort(-counts, kind="stable")[:3]
        return draw_label_map(img, label), ", ".join(f"{label_names[k]} {counts[k] / label.size:.0%}" for k in largest)

    def class_table(self, result: Any, label_names: Sequence[str]) -> ClassTable:
        """The intersection over union and the accuracy of each class."""
        counts = np.asarray(result.confusion).sum(axis=1)
        of_classes = zip(label_names, counts, result.iou, result.class_accuracy)
        rows = [
            {"name": name, "n_pixels": int(n), "IoU": float(iou), "accuracy": float(accuracy)}
            for name, n, iou, accuracy in of_classes
        ]
        return ClassTable(rows, ("IoU", "accuracy"), "pixels")
