"""The DeepLabs in listings and in files."""

import functools
from typing import Any

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.deeplab.deeplab_v3_plus import DeepLabV3plusConfig, DeepLabV3plusXception65
from cvzoo.links.model.deeplab.weights import V3_PLUS_RECORDS, V3_RECORDS
from cvzoo.links.model.dense_backbone import DenseSegmenterConfig
from cvzoo.links.model.short_side_preparation import short_side_preprocessing
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _v3_plus_preprocessing(model: DeepLabV3plusXception65) -> dict[str, Any]:
    return {"channels": "RGB", "formula": "x / 127.5 - 1", "padded_to_at_least": list(model.min_input_size)}


ARCHITECTURES = (
    Architecture("DeepLabV3", DeepLabV3, DenseSegmenterConfig, short_side_preprocessing),
    Architecture("DeepLabV3plusXception65", DeepLabV3plusXception65, DeepLabV3plusConfig, _v3_plus_preprocessing),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    of_v3 = ((functools.partial(DeepLabV3, backbone), records) for backbone, records in V3_RECORDS.items())
    return trained_members([*of_v3, (DeepLabV3plusXception65, V3_PLUS_RECORDS)], "segmentation")
