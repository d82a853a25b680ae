"""The SSDs in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.ssd.config import SSDConfig
from cvzoo.links.model.ssd.published import SSD300, SSD512
from cvzoo.links.model.ssd.ssd import SSD
from cvzoo.links.model.ssd.weights import SSD300_WEIGHTS, SSD512_WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("SSD", SSD, SSDConfig, key="settings"),)


def members() -> list[ZooMember]:
    """The trained ones."""
    tables = ((SSD300, SSD300_WEIGHTS), (SSD512, SSD512_WEIGHTS))
    return trained_members(
        (make, {key: record for key, record in records.items() if key != "imagenet"}) for make, records in tables
    )
