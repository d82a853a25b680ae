"""The VGG networks in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.vgg.vgg import VGG, VGGConfig
from cvzoo.links.model.vgg.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("VGG", VGG, VGGConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members(
        (functools.partial(VGG, n_layer, norm=norm), records) for (n_layer, norm), records in WEIGHTS.items()
    )
