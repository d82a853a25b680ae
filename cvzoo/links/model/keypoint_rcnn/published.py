"""The KeypointRCNNs on pyramids that others know by a name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.detectron2_weights import detectron2_config
from cvzoo.links.model.faster_rcnn_fpn.published import full_name, resnet101_settings
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.links.model.keypoint_rcnn.weights import WEIGHTS


def KeypointRCNNFPNResNet50(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNSettings | None = None,
) -> KeypointRCNNFPN:
    """A `KeypointRCNNFPN` on a ResNet-50; "coco" are torchvision's weights, "imagenet" is a backbone."""
    name = full_name(pretrained_model, "resnet50", WEIGHTS)
    return KeypointRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)


def KeypointRCNNFPNResNet101(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNSettings | None = None,
) -> KeypointRCNNFPN:
    """A `KeypointRCNNFPN` on a ResNet-101; "coco_detectron2_3x" are detectron2's weights, "imagenet" is a backbone."""
    name = full_name(pretrained_model, "resnet101", WEIGHTS)
    settings = resnet101_settings(pretrained_model, settings)
    return KeypointRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)


def KeypointRCNNFPNResNeXt101(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    settings: FasterRCNNFPNSettings | None = None,
) -> KeypointRCNNFPN:
    """A `KeypointRCNNFPN` on a ResNeXt-101 32x8d; "coco_detectron2_3x" are detectron2's weights."""
    name = full_name(pretrained_model, "resnext101_32x8d", WEIGHTS)
    if settings is None and pretrained_model is None:
        settings = detectron2_config(101, groups=32)
    return KeypointRCNNFPN(n_fg_class, name, label_names=label_names, settings=settings)
