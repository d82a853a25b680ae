"""The Keypoint R-CNNs in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.faster_rcnn_fpn.listing import region_members
from cvzoo.links.model.keypoint_rcnn.config import KeypointRCNNFPNConfig
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.links.model.keypoint_rcnn.published import (
    KeypointRCNNFPNResNet50,
    KeypointRCNNFPNResNet101,
    KeypointRCNNFPNResNeXt101,
)
from cvzoo.links.model.keypoint_rcnn.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("KeypointRCNNFPN", KeypointRCNNFPN, KeypointRCNNFPNConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = {
        "resnet50": KeypointRCNNFPNResNet50,
        "resnet101": KeypointRCNNFPNResNet101,
        "resnext101_32x8d": KeypointRCNNFPNResNeXt101,
    }
    return region_members(WEIGHTS, makers, "keypoints")
