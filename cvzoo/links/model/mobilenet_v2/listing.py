"""MobileNetV2 in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2, MobileNetV2Config
from cvzoo.links.model.mobilenet_v2.weights import WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("MobileNetV2", MobileNetV2, MobileNetV2Config),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members(
        (functools.partial(MobileNetV2, arch=arch, width=width), records) for (arch, width), records in WEIGHTS.items()
    )
