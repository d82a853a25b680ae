"""The Light-Head R-CNNs in listings and in files."""

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.faster_rcnn.storage import mean_preprocessing
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101
from cvzoo.links.model.light_head_rcnn.storage import light_head_from_settings, light_head_settings
from cvzoo.links.model.light_head_rcnn.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (
    HandWritten(
        "LightHeadRCNNResNet101",
        LightHeadRCNNResNet101,
        light_head_settings,
        mean_preprocessing,
        light_head_from_settings,
    ).with_thresholds(),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(LightHeadRCNNResNet101, {"coco": WEIGHTS["coco"]})])
