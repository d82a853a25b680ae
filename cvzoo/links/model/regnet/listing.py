"""RegNets in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.regnet.regnet import RegNet, RegNetConfig
from cvzoo.links.model.regnet.weights import WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("RegNet", RegNet, RegNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(RegNet, design), records) for design, records in WEIGHTS.items())
