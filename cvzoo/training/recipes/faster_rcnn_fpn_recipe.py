"""The training recipe of Faster R-CNN on a feature pyramid, and the base class of those for masks and keypoints."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cvzoo.links.model.config import config_field
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.loss import FasterRCNNFPNLoss, RegionSampling
from cvzoo.links.model.faster_rcnn_fpn.region_network import region_anchors
from cvzoo.training.recipes.detection_recipe import AbstractPyramidRecipe, pyramid_anchors
from cvzoo.training.recipes.recipe import AbstractRecipe, RecipeModel, Splits
from cvzoo.training.run.anchor_reach import Anchors

# for a newcomer on two cores
SMALL = FasterRCNNFPNConfig(
    n_layer=18, channels=64, head_width=256, n_proposal=300, norm="batch", min_size=480, max_size=800
)


def regions_field() -> Any:
    """The number of regions in the loss."""
    return config_field(
        256, help="regions sampled in each image for the second stage", group="loss", at_least=1, at_most=100_000
    )


def region_lr_field() -> Any:
    """The learning rate of two-stage detectors with a feature pyramid."""
    return config_field(3e-4, help="learning rate after the warm-up", group="optimizer", above=0)


def proposal_anchors(config: FasterRCNNFPNConfig) -> Anchors:
    """Those of the region proposal network."""
    strides = (*config.strides, 2 * config.strides[-1])
    return pyramid_anchors(region_anchors(config).boxes, config, strides)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FasterRCNNFPNRecipe(AbstractPyramidRecipe):
    """All settings of the training of a Faster R-CNN on a feature pyramid.

    Source: Lin et al., Feature Pyramid Networks for Object Detection, CVPR 2017, section 5. Where we differ: AdamW with
    a cosine, images at three scales.
    """

    model: FasterRCNNFPNConfig = config_field(help="the network", group="model")
    lr: float = region_lr_field()
    regions: int = regions_field()

    def summary(self) -> str:
        m = self.model
        backbone = f"ResNet-{m.n_layer}" if m.backbone == "resnet" else "MobileNetV3 large"
        return f"Faster R-CNN with FPN on {backbone}, short side of {m.min_size} pixels"

    def build_model(self, label_names: Sequence[str]) -> FasterRCNNFPN:
        return FasterRCNNFPN(None, self.pretrained, label_names=label_names, settings=self.model)

    def anchors(self, model: RecipeModel) -> Anchors:
        """Those of the region proposal network."""
        return proposal_anchors(self.model)

    def build_loss(self, model: RecipeModel, splits: Splits) -> FasterRCNNFPNLoss:
        return FasterRCNNFPNLoss(model, sampling=RegionSampling(n_region=self.regions))


FASTER_RCNN_FPN_RECIPES: Mapping[str, AbstractRecipe] = MappingProxyType(
    {
        "faster_rcnn_fpn_resnet18_small": FasterRCNNFPNRecipe(model=SMALL, lr=5e-4).with_pretrained("imagenet"),
        "faster_rcnn_fpn_resnet50": FasterRCNNFPNRecipe(model=FasterRCNNFPNConfig()).with_pretrained("imagenet"),
    }
)
