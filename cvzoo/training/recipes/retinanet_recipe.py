"""The training recipe of RetinaNet."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from cvzoo.links.model.config import config_field
from cvzoo.links.model.retinanet.config import RetinaNetConfig
from cvzoo.links.model.retinanet.loss import RetinaNetLoss
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.retinanet.weights import RESNET50_FPN
from cvzoo.training.recipes.detection_recipe import AbstractPyramidRecipe, pyramid_anchors
from cvzoo.training.recipes.recipe import AbstractRecipe, RecipeModel, Splits
from cvzoo.training.run.anchor_reach import Anchors


@dataclasses.dataclass(frozen=True, kw_only=True)
class RetinaNetRecipe(AbstractPyramidRecipe):
    """All settings of a RetinaNet's training.

    Source: Lin et al., Focal Loss for Dense Object Detection, ICCV 2017. Where we differ: AdamW with a cosine, the GIoU
    loss of boxes.
    """

    model: RetinaNetConfig = config_field(help="the network", group="model")
    alpha: float = config_field(
        0.25, help="weight of objects in the focal loss, 1 - alpha of the background", group="loss", above=0, below=1
    )
    gamma: float = config_field(
        2.0, help="exponent of the focal loss, by which well classified anchors count less", group="loss", at_least=0
    )
    box_loss: Literal["giou", "smooth_l1"] = config_field("giou", help="loss of the boxes", group="loss")

    @staticmethod
    def from_older(values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A stored recipe from when the network's field was called `settings`."""
        return {"model" if name == "settings" else name: value for name, value in values.items()}

    def summary(self) -> str:
        return f"RetinaNet on ResNet-{self.model.n_layer}, short side of {self.model.min_size} pixels"

    def build_model(self, label_names: Sequence[str]) -> RetinaNet:
        return RetinaNet(None, self.pretrained, label_names=label_names, config=self.model)

    def anchors(self, model: RecipeModel) -> Anchors:
        """Those of all levels."""
        strides = [2**level for level in range(self.model.first_level, self.model.last_level + 1)]
        return pyramid_anchors(model.anchors, self.model, strides)

    def build_loss(self, model: RecipeModel, splits: Splits) -> RetinaNetLoss:
        return RetinaNetLoss(model, alpha=self.alpha, gamma=self.gamma, box_loss=self.box_loss)


# lines of text: wide anchors as the BK.Synapse thesis has them for receipts, there down to 1:8; here to 1:16
_TEXT = RetinaNetConfig(
    n_layer=18,
    base_channels=32,
    channels=64,
    head_depth=2,
    last_level=6,
    min_size=704,
    max_size=1024,
    anchor_sizes=tuple((2.5 * 2**level, 3.5 * 2**level) for level in range(3, 7)),
    anchor_ratios=(1, 1 / 2, 1 / 4, 1 / 8, 1 / 16),
)
# with random weights; the sizes suit images of phones, without cropping
UNTRAINED: Mapping[str, RetinaNetRecipe] = MappingProxyType(
    {
        "retinanet_resnet18_small": RetinaNetRecipe(
            model=RetinaNetConfig(n_layer=18, base_channels=32, channels=64, head_depth=2, min_size=480, max_size=800)
        ),
        "retinanet_resnet18": RetinaNetRecipe(
            model=RetinaNetConfig(n_layer=18, channels=128, head_depth=3, min_size=480, max_size=800)
        ),
        "retinanet_resnet50": RetinaNetRecipe(model=RetinaNetConfig(n_layer=50, norm="frozen")),
        "retinanet_text": RetinaNetRecipe(
            model=_TEXT, crop=(0.5, 1.0), scales=(0.45, 0.55, 0.65, 0.75), flip=False, epochs=5
        ),
    }
)
RETINANET_RECIPES: Mapping[str, AbstractRecipe] = MappingProxyType(
    {
        "retinanet_resnet18_small": UNTRAINED["retinanet_resnet18_small"],  # nobody publishes so narrow a backbone
        "retinanet_text": UNTRAINED["retinanet_text"],
        "retinanet_resnet18": UNTRAINED["retinanet_resnet18"].with_pretrained("imagenet"),
        "retinanet_resnet50": UNTRAINED["retinanet_resnet50"].with_pretrained("imagenet"),
        "retinanet_resnet50_coco": RetinaNetRecipe(model=RESNET50_FPN, pretrained="coco", lr=1e-4),
    }
)
