"""The ResNets in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.resnet.resnet import ResNet, ResNetConfig
from cvzoo.links.model.resnet.weights import CLASS_WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("ResNet", ResNet, ResNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members(
        (functools.partial(ResNet, n_layer, groups=groups, base_width=base_width, se=16 if gated else 0), records)
        for (n_layer, groups, base_width, gated), records in CLASS_WEIGHTS.items()
    )
