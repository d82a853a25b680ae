"""MNASNet in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.mnasnet.mnasnet import MNASNet, MNASNetConfig
from cvzoo.links.model.mnasnet.weights import WEIGHTS
from cvzoo.links.model.trained_members import classifier_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("MNASNet", MNASNet, MNASNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(MNASNet, width), records) for width, records in WEIGHTS.items())
