"""The Faster R-CNNs on VGG16 in listings and in files."""

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.storage import mean_preprocessing, vgg16_from_settings, vgg16_settings
from cvzoo.links.model.faster_rcnn.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (
    HandWritten(
        "FasterRCNNVGG16", FasterRCNNVGG16, vgg16_settings, mean_preprocessing, vgg16_from_settings
    ).with_thresholds(),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(FasterRCNNVGG16, {key: WEIGHTS[key] for key in ("voc0712", "voc07")})])
