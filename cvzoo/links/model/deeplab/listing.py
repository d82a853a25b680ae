"""The DeepLabs in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.deeplab.deeplab_v3_plus import DeepLabV3plusConfig, DeepLabV3plusXception65
from cvzoo.links.model.deeplab.weights import V3_PLUS_RECORDS, V3_RECORDS
from cvzoo.links.model.dense_backbone import DenseSegmenterConfig
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (
    Architecture("DeepLabV3", DeepLabV3, DenseSegmenterConfig),
    Architecture("DeepLabV3plusXception65", DeepLabV3plusXception65, DeepLabV3plusConfig),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    of_v3 = ((functools.partial(DeepLabV3, backbone), records) for backbone, records in V3_RECORDS.items())
    return trained_members([*of_v3, (DeepLabV3plusXception65, V3_PLUS_RECORDS)], "segmentation")
