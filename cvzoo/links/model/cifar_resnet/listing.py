"""The CIFAR ResNets in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet, CIFARResNetConfig
from cvzoo.links.model.cifar_resnet.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("CIFARResNet", CIFARResNet, CIFARResNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = ((functools.partial(CIFARResNet, n_layer), records) for n_layer, records in WEIGHTS.items())
    return trained_members(makers, "classification")
