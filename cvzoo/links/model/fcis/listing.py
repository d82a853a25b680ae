"""The FCIS networks in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.faster_rcnn.config import FCISConfig
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcis.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("FCISResNet101", FCISResNet101, FCISConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    whole = {key: record for key, record in WEIGHTS.items() if key != "imagenet"}
    return trained_members([(FCISResNet101, whole)], "instance segmentation")
