"""The Faster R-CNNs on pyramids that others know by a name."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.detectron2_weights import detectron2_config
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.weights import MOBILENET_V3_LARGE_320_FPN, MOBILENET_V3_LARGE_FPN, WEIGHTS

Name = str | os.PathLike | None


def FasterRCNNFPNResNet50(
    n_fg_class: int | None = None,
    pretrained_model: Name = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNSettings | None = None,
) -> FasterRCNNFPN:
    """A `FasterRCNNFPN` on a ResNet-50; "coco" and "coco_v2" are torchvision's weights, "imagenet" is a backbone."""
    return FasterRCNNFPN(
        n_fg_class,
        full_name(pretrained_model, "resnet50", WEIGHTS),
        label_names=label_names,
        settings=settings,
    )


def FasterRCNNFPNResNet101(
    n_fg_class: int | None = None,
    pretrained_model: Name = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNSettings | None = None,
) -> FasterRCNNFPN:
    """A `FasterRCNNFPN` on a ResNet-101; "coco_detectron2_3x" and "coco_chainercv" are weights."""
    return FasterRCNNFPN(
        n_fg_class,
        full_name(pretrained_model, "resnet101", WEIGHTS),
        label_names=label_names,
        settings=resnet101_settings(pretrained_model, settings),
    )


def FasterRCNNFPNResNeXt101(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNSettings | None = None,
) -> FasterRCNNFPN:
    """A `FasterRCNNFPN` on a ResNeXt-101 32x8d; "coco_detectron2_3x" are detectron2's weights."""
    name = full_name(pretrained_model, "resnext101_32x8d", WEIGHTS)
    if settings is None and pretrained_model is None:
        settings = detectron2_config(101, groups=32)
    return FasterRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)


def FasterRCNNFPNMobileNetV3Large(
    n_fg_class: int | None = None,
    pretrained_model: Name = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNSettings | None = None,
) -> FasterRCNNFPN:
    """A `FasterRCNNFPN` on a MobileNetV3; "coco" are torchvision's weights."""
    name = full_name(pretrained_model, "mobilenet_v3_large", WEIGHTS)
    settings = MOBILENET_V3_LARGE_FPN if settings is None else settings
    return FasterRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)


def FasterRCNNFPNMobileNetV3Large320(
    n_fg_class: int | None = None,
    pretrained_model: Name = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNSettings | None = None,
) -> FasterRCNNFPN:
    """A `FasterRCNNFPN` on a MobileNetV3 that sees small photos; "coco" are torchvision's weights."""
    name = full_name(pretrained_model, "mobilenet_v3_large_320", WEIGHTS)
    settings = MOBILENET_V3_LARGE_320_FPN if settings is None else settings
    return FasterRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)


def full_name(pretrained_model: Name, variant: str, weights: Mapping[str, Any]) -> Name:
    """The key of the family's table: "resnet50_coco" of "coco"; what is no key of the variant stays as it is."""
    name = f"{variant}_{pretrained_model}"
    return name if isinstance(pretrained_model, str) and name in weights else pretrained_model


def resnet101_settings(pretrained_model: Name, settings: FasterRCNNFPNSettings | None) -> FasterRCNNFPNSettings | None:
    """Those of a ResNet-101 where neither the user nor a file of a whole detector has any."""
    if settings is not None:
        return settings
    if pretrained_model is None:
        return FasterRCNNFPNSettings(n_layer=101)
    if pretrained_model in ("imagenet", "imagenet_v2"):
        return FasterRCNNFPNSettings(n_layer=101, norm="frozen")
    return None
