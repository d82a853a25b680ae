"""The training recipe of SSD."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.links.link import Link
from cvzoo.links.model.config import config_field
from cvzoo.links.model.ssd.augmentation import SSDTransform
from cvzoo.links.model.ssd.config import SSD300_SETTINGS, SSD512_SETTINGS, SSDConfig
from cvzoo.links.model.ssd.loss import SSDLoss, collate_multibox
from cvzoo.links.model.ssd.ssd import SSD
from cvzoo.links.model.ssd.weights import SSD300_WEIGHTS, SSD512_WEIGHTS
from cvzoo.optimizers.hooks.gradient_scaling import GradientScaling
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.selectors import named
from cvzoo.reporting.counted import counted
from cvzoo.training.recipes.detection_recipe import AbstractDetectionRecipe
from cvzoo.training.recipes.images import denormalized
from cvzoo.training.recipes.recipe import RecipeModel, Splits
from cvzoo.training.run.anchor_reach import Anchors
from cvzoo.typing.aliases import Array, Image
from cvzoo.visualizations.draw_bbox import draw_bbox


@dataclasses.dataclass(frozen=True, kw_only=True)
class SSDRecipe(AbstractDetectionRecipe):
    """All settings of an SSD's training.

    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, section 3; biases learn twice as fast there.
    """

    model: SSDConfig = config_field(help="the network", group="model")
    batch_size: int = config_field(8, help="images in a batch", unit="images", group="schedule", at_least=1)
    optimizer: Literal["adamw", "adam", "sgd", "nesterov"] = config_field(
        "sgd", help="optimizer; sgd has momentum, and so has nesterov", group="optimizer"
    )
    weight_decay: float = config_field(5e-4, help="weight decay, not of vectors", group="optimizer", at_least=0)
    bias_lr: float = config_field(
        2.0, help="learning rate of biases, as a multiple of lr; of sgd and nesterov", group="optimizer", above=0
    )
    negatives: float = config_field(
        3.0, help="background boxes in the loss for each box with an object", group="loss", above=0
    )
    augment: bool = config_field(
        True, help="whether colors, scale, crop and flip are random, as in the paper", group="augmentation"
    )

    def summary(self) -> str:
        return f"SSD on VGG16, {self.model.insize} x {self.model.insize} pixels"

    def build_model(self, label_names: Sequence[str]) -> SSD:
        records = SSD512_WEIGHTS if self.model.insize == SSD512_SETTINGS.insize else SSD300_WEIGHTS
        return SSD(None, self.pretrained, label_names=label_names, config=self.model, records=records)

    def build_loss(self, model: RecipeModel, splits: Splits) -> SSDLoss:
        return SSDLoss(model, k=self.negatives)

    def build_optimizer(self, loss: Link) -> AbstractOptimizer:
        """The optimizer, with another learning rate of biases."""
        optimizer = super().build_optimizer(loss)
        if self.bias_lr != 1 and self.optimizer in ("sgd", "nesterov"):
            optimizer.add_hook(GradientScaling(self.bias_lr, only=named("b")))
        return optimizer

    def anchors(self, model: RecipeModel) -> Anchors:
        """The default boxes."""
        return Anchors(lambda size: model.coder.default)

    def boxed_examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> TransformDataset:
        """The augmented boxes, before they become targets of default boxes."""
        return TransformDataset(self._mixed(train), ("img", "bbox", "label"), self._transform(model).augmented)

    def examples(self, train: AbstractSliceableDataset, model: RecipeModel) -> TransformDataset:
        return TransformDataset(self._mixed(train), ("img", "mb_loc", "mb_label"), self._transform(model))

    def _mixed(self, train: AbstractSliceableDataset) -> AbstractSliceableDataset:
        return self.mixed(train, (self.model.insize, self.model.insize))

    def _transform(self, model: RecipeModel) -> SSDTransform:
        size = (model.insize, model.insize)
        return SSDTransform(model.coder, size, mean=model.mean, augment=self.augment)

    def converter(self, batch: Sequence[Any], device: str | int | None = None) -> Any:
        """Images and targets are stacked."""
        return collate_multibox(batch, device)

    def draw_example(
        self, example: tuple[Array, ...], model: RecipeModel, label_names: Sequence[str]
    ) -> tuple[Image, str]:
        """The boxes of the default boxes that are to find an object."""
        img, mb_loc, mb_label = example
        conf = np.zeros((len(mb_loc), 1 + len(label_names)), np.float32)
        conf[np.arange(len(conf)), np.maximum(mb_label, 0)] = 100
        bbox, label, _ = model.coder.decode(mb_loc, conf, score_thresh=0.5)
        objects, first = np.unique(np.round(bbox), axis=0, return_index=True)
        drawn = draw_bbox(
            denormalized(img, mean=model.mean, std=1), objects.astype(np.float32), label[first], label_names=label_names
        )
        return (
            drawn,
            f"{counted(len(objects), 'box', 'boxes')}, "
            f"{counted(int((mb_label > 0).sum()), 'default box', 'default boxes')}",
        )


SSD_RECIPES: Mapping[str, SSDRecipe] = MappingProxyType(
    {
        "ssd300": SSDRecipe(model=SSD300_SETTINGS, pretrained="voc0712"),
        "ssd512": SSDRecipe(model=SSD512_SETTINGS, pretrained="voc0712"),
    }
)
