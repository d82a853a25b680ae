"""The Mask R-CNNs in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.faster_rcnn_fpn.listing import region_members
from cvzoo.links.model.mask_rcnn.config import MaskRCNNFPNConfig
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.links.model.mask_rcnn.published import MaskRCNNFPNResNet50, MaskRCNNFPNResNet101, MaskRCNNFPNResNeXt101
from cvzoo.links.model.mask_rcnn.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("MaskRCNNFPN", MaskRCNNFPN, MaskRCNNFPNConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = {
        "resnet50": MaskRCNNFPNResNet50,
        "resnet101": MaskRCNNFPNResNet101,
        "resnext101_32x8d": MaskRCNNFPNResNeXt101,
    }
    return region_members(WEIGHTS, makers, "instance segmentation")
