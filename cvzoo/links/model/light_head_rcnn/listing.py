"""The Light-Head R-CNNs in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.faster_rcnn.storage import mean_preprocessing
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101
from cvzoo.links.model.light_head_rcnn.storage import light_head_from_settings, light_head_settings
from cvzoo.links.model.light_head_rcnn.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (
    Architecture(
        "LightHeadRCNNResNet101",
        LightHeadRCNNResNet101,
        light_head_settings,
        mean_preprocessing,
        light_head_from_settings,
    ),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    make = functools.partial(LightHeadRCNNResNet101, pretrained_model="coco")
    return [ZooMember(WEIGHTS["coco"].name, make, WEIGHTS["coco"], (WEIGHTS["coco"],))]
