"""The Keypoint R-CNNs in listings and in files."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.faster_rcnn_fpn.listing import region_members
from cvzoo.links.model.faster_rcnn_fpn.storage import region_network_preprocessing, region_network_settings
from cvzoo.links.model.faster_rcnn_fpn.stored import stored_region_network
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.links.model.keypoint_rcnn.point_head import PointHeadSettings
from cvzoo.links.model.keypoint_rcnn.published import (
    KeypointRCNNFPNResNet50,
    KeypointRCNNFPNResNet101,
    KeypointRCNNFPNResNeXt101,
)
from cvzoo.links.model.keypoint_rcnn.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember


def keypoint_rcnn_settings(model: KeypointRCNNFPN) -> dict[str, Any]:
    """`region_network_settings`, the fields of `PointHeadSettings`, and point_names."""
    return {
        **region_network_settings(model),
        "point_settings": dataclasses.asdict(model.point_settings),
        "point_names": None if model.point_names is None else list(model.point_names),
    }


def keypoint_rcnn_from_settings(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> KeypointRCNNFPN:
    """The model with random values. Raises what is wrong with the settings: KeyError, TypeError, ValueRangeError ..."""
    stored = stored_region_network(settings)
    return KeypointRCNNFPN(
        stored.n_fg_class,
        label_names=label_names,
        settings=stored.settings,
        point_settings=PointHeadSettings(**settings["point_settings"]),
        point_names=settings["point_names"],
    )


ARCHITECTURES = (
    Architecture(
        "KeypointRCNNFPN",
        KeypointRCNNFPN,
        keypoint_rcnn_settings,
        region_network_preprocessing,
        keypoint_rcnn_from_settings,
    ).with_thresholds(),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = {
        "resnet50": KeypointRCNNFPNResNet50,
        "resnet101": KeypointRCNNFPNResNet101,
        "resnext101_32x8d": KeypointRCNNFPNResNeXt101,
    }
    return region_members(WEIGHTS, makers, "keypoints")
