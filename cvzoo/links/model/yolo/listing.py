"""The YOLOs in listings and in files."""

import functools

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.yolo.weights import YOLO_V2_TINY_WEIGHTS, YOLO_V2_WEIGHTS, YOLO_V3_WEIGHTS
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2
from cvzoo.links.model.yolo.yolo_v2_tiny import YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES: tuple[Architecture, ...] = ()


def members() -> list[ZooMember]:
    """The trained ones."""
    tables = ((YOLOv2, YOLO_V2_WEIGHTS), (YOLOv2Tiny, YOLO_V2_TINY_WEIGHTS), (YOLOv3, YOLO_V3_WEIGHTS))
    return [
        ZooMember(record.name, functools.partial(model, pretrained_model=key), record, (record,))
        for model, records in tables
        for key, record in records.items()
    ]
