"""The MaskRCNNs on pyramids that others know by a name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.faster_rcnn_fpn.published import published_variant
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.links.model.mask_rcnn.weights import WEIGHTS
from cvzoo.links.model.variant import variant


def _build(
    kind: str,
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNConfig | None = None,
) -> MaskRCNNFPN:
    name, settings = published_variant(kind, pretrained_model, settings, WEIGHTS)
    return MaskRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)


MaskRCNNFPNResNet50 = variant(
    "MaskRCNNFPNResNet50",
    _build,
    "resnet50",
    'A `MaskRCNNFPN` on a ResNet-50; "coco" are torchvision\'s weights, "imagenet" is a backbone',
)
MaskRCNNFPNResNet101 = variant(
    "MaskRCNNFPNResNet101",
    _build,
    "resnet101",
    'A `MaskRCNNFPN` on a ResNet-101; "coco_detectron2_3x" and "coco_chainercv" are weights',
)
MaskRCNNFPNResNeXt101 = variant(
    "MaskRCNNFPNResNeXt101",
    _build,
    "resnext101_32x8d",
    'A `MaskRCNNFPN` on a ResNeXt-101 32x8d; "coco_detectron2_3x" are detectron2\'s weights',
)
