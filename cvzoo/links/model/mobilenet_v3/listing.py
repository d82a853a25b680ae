"""MobileNetV3 in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.mobilenet_v3.mobilenet_v3 import MobileNetV3, MobileNetV3Config
from cvzoo.links.model.mobilenet_v3.weights import WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("MobileNetV3", MobileNetV3, MobileNetV3Config),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(MobileNetV3, size), records) for size, records in WEIGHTS.items())
