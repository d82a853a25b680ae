"""ESPNet in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.espnet.espnet import ESPNet, ESPNetConfig
from cvzoo.links.model.espnet.weights import RECORDS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("ESPNet", ESPNet, ESPNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(ESPNet, RECORDS)], "segmentation")
