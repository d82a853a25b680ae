"""FCOS in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.fcos.config import FCOSConfig
from cvzoo.links.model.fcos.fcos import FCOS
from cvzoo.links.model.fcos.published import FCOSResNet50FPN
from cvzoo.links.model.fcos.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("FCOS", FCOS, FCOSConfig, key="settings"),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(FCOSResNet50FPN, WEIGHTS)])
