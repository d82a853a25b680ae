"""The Light-Head R-CNNs in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.faster_rcnn.config import LightHeadRCNNConfig
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101
from cvzoo.links.model.light_head_rcnn.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("LightHeadRCNNResNet101", LightHeadRCNNResNet101, LightHeadRCNNConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(LightHeadRCNNResNet101, {"coco": WEIGHTS["coco"]})])
