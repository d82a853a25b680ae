"""The Mask R-CNNs in listings and in files."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.faster_rcnn_fpn.listing import region_members
from cvzoo.links.model.faster_rcnn_fpn.storage import region_network_preprocessing, region_network_settings
from cvzoo.links.model.faster_rcnn_fpn.stored import stored_region_network
from cvzoo.links.model.mask_rcnn.mask_head import MaskHeadSettings
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.links.model.mask_rcnn.published import MaskRCNNFPNResNet50, MaskRCNNFPNResNet101, MaskRCNNFPNResNeXt101
from cvzoo.links.model.mask_rcnn.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember


def mask_rcnn_settings(model: MaskRCNNFPN) -> dict[str, Any]:
    """`region_network_settings` and the fields of `MaskHeadSettings`."""
    return {**region_network_settings(model), "mask_settings": dataclasses.asdict(model.mask_settings)}


def mask_rcnn_from_settings(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> MaskRCNNFPN:
    """The model with random values. Raises what is wrong with the settings: KeyError, TypeError, ValueRangeError ..."""
    stored = stored_region_network(settings)
    head = MaskHeadSettings(**settings["mask_settings"])
    return MaskRCNNFPN(stored.n_fg_class, label_names=label_names, settings=stored.settings, mask_settings=head)


ARCHITECTURES = (
    Architecture(
        "MaskRCNNFPN", MaskRCNNFPN, mask_rcnn_settings, region_network_preprocessing, mask_rcnn_from_settings
    ).with_thresholds(),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = {
        "resnet50": MaskRCNNFPNResNet50,
        "resnet101": MaskRCNNFPNResNet101,
        "resnext101_32x8d": MaskRCNNFPNResNeXt101,
    }
    return region_members(WEIGHTS, makers, "instance segmentation")
