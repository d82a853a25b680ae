"""EfficientNets in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.efficientnet.efficientnet import EfficientNet, EfficientNetConfig
from cvzoo.links.model.efficientnet.weights import WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("EfficientNet", EfficientNet, EfficientNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members(
        (functools.partial(EfficientNet, variant), records) for variant, records in WEIGHTS.items()
    )
