"""LRASPP in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.lraspp.lraspp import LRASPPConfig, LRASPPMobileNetV3Large
from cvzoo.links.model.lraspp.weights import RECORDS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("LRASPPMobileNetV3Large", LRASPPMobileNetV3Large, LRASPPConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(LRASPPMobileNetV3Large, RECORDS)], "segmentation")
