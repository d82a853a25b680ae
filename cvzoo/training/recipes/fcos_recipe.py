"""The training recipe of FCOS."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from cvzoo.links.model.config import config_field
from cvzoo.links.model.fcos.fcos import FCOS, FCOSConfig
from cvzoo.links.model.fcos.loss import FCOSLoss
from cvzoo.training.recipes.detection_recipe import AbstractPyramidRecipe
from cvzoo.training.recipes.recipe import AbstractRecipe, RecipeModel, Splits


@dataclasses.dataclass(frozen=True, kw_only=True)
class FCOSRecipe(AbstractPyramidRecipe):
    """All settings of an FCOS's training.

    Source: Tian et al., FCOS: Fully Convolutional One-Stage Object Detection, ICCV 2019. Where we differ: AdamW with a
    cosine.
    """

    model: FCOSConfig = config_field(help="the network", group="model")

    def summary(self) -> str:
        return f"FCOS on ResNet-{self.model.n_layer}, short side of {self.model.min_size} pixels"

    def build_model(self, label_names: Sequence[str]) -> FCOS:
        return FCOS(None, self.pretrained, label_names=label_names, config=self.model)

    def build_loss(self, model: RecipeModel, splits: Splits) -> FCOSLoss:
        return FCOSLoss(model)


_SMALL = FCOSConfig(n_layer=18, channels=128, head_depth=3, norm="batch", min_size=480, max_size=800)
FCOS_RECIPES: Mapping[str, AbstractRecipe] = MappingProxyType(
    {
        "fcos_resnet18": FCOSRecipe(model=_SMALL).with_pretrained("imagenet"),
        "fcos_resnet50": FCOSRecipe(model=FCOSConfig(n_layer=50)).with_pretrained("imagenet"),
        "fcos_resnet50_coco": FCOSRecipe(model=FCOSConfig(n_layer=50), pretrained="coco", lr=1e-4),
    }
)
