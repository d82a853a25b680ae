"""ShuffleNetV2 in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.shufflenet_v2.shufflenet_v2 import ShuffleNetV2, ShuffleNetV2Config
from cvzoo.links.model.shufflenet_v2.weights import WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("ShuffleNetV2", ShuffleNetV2, ShuffleNetV2Config),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(ShuffleNetV2, width), records) for width, records in WEIGHTS.items())
