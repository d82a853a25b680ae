"""The SqueezeNets in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.squeezenet.squeezenet import SqueezeNet, SqueezeNetConfig
from cvzoo.links.model.squeezenet.weights import WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("SqueezeNet", SqueezeNet, SqueezeNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(SqueezeNet, version), records) for version, records in WEIGHTS.items())
