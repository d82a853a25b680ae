"""FCN in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.dense_backbone import DenseSegmenterConfig
from cvzoo.links.model.fcn.fcn import FCN
from cvzoo.links.model.fcn.weights import RECORDS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("FCN", FCN, DenseSegmenterConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = ((functools.partial(FCN, backbone), records) for backbone, records in RECORDS.items())
    return trained_members(makers, "segmentation")
