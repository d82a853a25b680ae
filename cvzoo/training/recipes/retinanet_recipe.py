"""The training recipe of RetinaNet."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cvzoo.datasets.sliceable.transform_dataset import TransformDataset
from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.chain import Chain
from cvzoo.links.model.config import config_field
from cvzoo.links.model.preparation.abstract import MEAN_OF_255, STD_OF_255
from cvzoo.links.model.retinanet.augmentation import RetinaNetTransform, collate_photos
from cvzoo.links.model.retinanet.config import RetinaNetConfig
from cvzoo.links.model.retinanet.loss import RetinaNetLoss
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.training.recipes.detection_recipe import AbstractDetectionRecipe, draw_boxes
from cvzoo.training.recipes.recipe import AbstractRecipe, Splits
from cvzoo.typing.aliases import Image


@dataclasses.dataclass(frozen=True, kw_only=True)
class RetinaNetRecipe(AbstractDetectionRecipe):
    """All settings of a RetinaNet's training.

    model: its min_size and max_size are those of inference, and of training, too
    """

    model: RetinaNetConfig = config_field(help="the network", group="model")
    scales: tuple[float, ...] = config_field(
        (0.8, 0.9, 1.0), help="short sides in training, as fractions of min_size", group="augmentation", above=0
    )
    jitter: float = config_field(0.2, help="strength of the color jitter", group="augmentation", at_least=0)

    def check_together(self) -> None:
        """Raises ValueRangeError for an unknown metric, or no scale."""
        super().check_together()
        self.require(len(self.scales) > 0, "scales", "at least one")

    @staticmethod
    def from_older(values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A stored recipe from when the network's field was called `settings`."""
        return {"model" if name == "settings" else name: value for name, value in values.items()}

    def summary(self) -> str:
        return f"RetinaNet on ResNet-{self.model.n_layer}, short side of {self.model.min_size} pixels"

    def build_model(self, label_names: Sequence[str]) -> Chain:
        return RetinaNet(None, self.pretrained, label_names=label_names, config=self.model)

    def build_loss(self, model: Any, splits: Splits) -> RetinaNetLoss:
        return RetinaNetLoss(model, box_loss="giou")

    def examples(self, train: Any, model: Any) -> TransformDataset:
        transform = RetinaNetTransform(self.shorts, self.model.max_size, jitter=self.jitter)
        return TransformDataset(train, ("img", "bbox", "label", "ignored"), transform)

    def converter(self, batch: Sequence[Any], device: Any = None) -> Any:
        """Images of different sizes are padded."""
        return collate_photos(batch, device)

    def draw_example(self, example: tuple[Any, ...], model: Any, label_names: Sequence[str]) -> tuple[Image, str]:
        return draw_boxes(example, label_names, mean=MEAN_OF_255, std=STD_OF_255)

    def with_pretrained(self, pretrained: str | None) -> AbstractRecipe:
        """Normalizations of a backbone trained on ImageNet are frozen: batches of few images would change them."""
        recipe = dataclasses.replace(self, pretrained=pretrained)
        if pretrained is None or not pretrained.startswith("imagenet"):
            return recipe
        return dataclasses.replace(recipe, model=dataclasses.replace(self.model, norm="frozen"))

    def with_size(self, side: int) -> AbstractRecipe:
        """The short side of an image; the long one up to 5/3 of it."""
        if side < 64:
            raise ConfigError("--size is too small", expected="64 or more", got=side)
        return dataclasses.replace(self, model=dataclasses.replace(self.model, min_size=side, max_size=side * 5 // 3))

    @property
    def shorts(self) -> tuple[int, ...]:
        """Short sides in training, pixels."""
        return tuple(max(round(scale * self.model.min_size), 32) for scale in self.scales)


# the sizes suit images of phones, without cropping
RETINANET_RECIPES: Mapping[str, RetinaNetRecipe] = MappingProxyType(
    {
        "retinanet_resnet18_small": RetinaNetRecipe(
            model=RetinaNetConfig(n_layer=18, base_channels=32, channels=64, head_depth=2, min_size=480, max_size=800)
        ),
        "retinanet_resnet18": RetinaNetRecipe(
            model=RetinaNetConfig(n_layer=18, channels=128, head_depth=3, min_size=480, max_size=800)
        ),
        "retinanet_resnet50": RetinaNetRecipe(model=RetinaNetConfig(n_layer=50, norm="frozen")),
    }
)
