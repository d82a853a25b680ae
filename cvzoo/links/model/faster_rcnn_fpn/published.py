"""The Faster R-CNNs on pyramids that others know by a name."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.faster_rcnn_fpn.detectron2_weights import detectron2_config
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.weights import MOBILENET_V3_LARGE_320_FPN, MOBILENET_V3_LARGE_FPN, WEIGHTS
from cvzoo.links.model.variant import variant

Name = str | os.PathLike | None
_MOBILENETS = {"mobilenet_v3_large": MOBILENET_V3_LARGE_FPN, "mobilenet_v3_large_320": MOBILENET_V3_LARGE_320_FPN}


def published_variant(
    kind: str, pretrained_model: Name, config: FasterRCNNFPNConfig | None, weights: Mapping[str, Any]
) -> tuple[Name, FasterRCNNFPNConfig | None]:
    """What a constructor's pretrained_model and config mean for a variant.

    kind: of the backbone, as the keys of the family's table begin
    Returns the key of the family's table: "resnet50_coco" of "coco" (what is no key of the variant stays as it is), and
    the variant's config where neither the user nor a file of a whole detector has any.
    """
    name = f"{kind}_{pretrained_model}"
    if config is None:
        config = _usual_config(kind, pretrained_model)
    return name if isinstance(pretrained_model, str) and name in weights else pretrained_model, config


def _usual_config(kind: str, pretrained_model: Name) -> FasterRCNNFPNConfig | None:
    if kind in _MOBILENETS:
        return _MOBILENETS[kind]
    if kind == "resnet101" and pretrained_model in ("imagenet", "imagenet_v2"):
        return FasterRCNNFPNConfig(n_layer=101, norm="frozen")
    if kind == "resnet50" or pretrained_model is not None:
        return None
    return FasterRCNNFPNConfig(n_layer=101) if kind == "resnet101" else detectron2_config(101, groups=32)


def _build(
    kind: str,
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNConfig | None = None,
) -> FasterRCNNFPN:
    name, settings = published_variant(kind, pretrained_model, settings, WEIGHTS)
    return FasterRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)


FasterRCNNFPNResNet50 = variant(
    "FasterRCNNFPNResNet50",
    _build,
    "resnet50",
    'A `FasterRCNNFPN` on a ResNet-50; "coco" and "coco_v2" are torchvision\'s weights, "imagenet" is a backbone',
)
FasterRCNNFPNResNet101 = variant(
    "FasterRCNNFPNResNet101",
    _build,
    "resnet101",
    'A `FasterRCNNFPN` on a ResNet-101; "coco_detectron2_3x" and "coco_chainercv" are weights',
)
FasterRCNNFPNResNeXt101 = variant(
    "FasterRCNNFPNResNeXt101",
    _build,
    "resnext101_32x8d",
    'A `FasterRCNNFPN` on a ResNeXt-101 32x8d; "coco_detectron2_3x" are detectron2\'s weights',
)
FasterRCNNFPNMobileNetV3Large = variant(
    "FasterRCNNFPNMobileNetV3Large",
    _build,
    "mobilenet_v3_large",
    'A `FasterRCNNFPN` on a MobileNetV3; "coco" are torchvision\'s weights',
)
FasterRCNNFPNMobileNetV3Large320 = variant(
    "FasterRCNNFPNMobileNetV3Large320",
    _build,
    "mobilenet_v3_large_320",
    'A `FasterRCNNFPN` on a MobileNetV3 that sees small photos; "coco" are torchvision\'s weights',
)
