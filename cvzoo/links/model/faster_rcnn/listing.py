"""The Faster R-CNNs on VGG16 in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.storage import mean_preprocessing, vgg16_from_settings, vgg16_settings
from cvzoo.links.model.faster_rcnn.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (
    Architecture("FasterRCNNVGG16", FasterRCNNVGG16, vgg16_settings, mean_preprocessing, vgg16_from_settings),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    found = []
    for key in ("voc0712", "voc07"):
        make = functools.partial(FasterRCNNVGG16, pretrained_model=key)
        found.append(ZooMember(WEIGHTS[key].name, make, WEIGHTS[key], (WEIGHTS[key],)))
    return found
