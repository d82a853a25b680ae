"""The Faster R-CNNs on VGG16 in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.faster_rcnn.config import FasterRCNNVGG16Config
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("FasterRCNNVGG16", FasterRCNNVGG16, FasterRCNNVGG16Config),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(FasterRCNNVGG16, {key: WEIGHTS[key] for key in ("voc0712", "voc07")})])
