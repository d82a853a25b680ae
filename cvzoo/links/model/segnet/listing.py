"""SegNet in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic, SegNetConfig
from cvzoo.links.model.segnet.weights import RECORDS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("SegNetBasic", SegNetBasic, SegNetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(SegNetBasic, RECORDS)], "segmentation")
