"""The YOLO networks in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.yolo.weights import YOLO_V2_TINY_WEIGHTS, YOLO_V2_WEIGHTS, YOLO_V3_WEIGHTS
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2, YOLOv2Config
from cvzoo.links.model.yolo.yolo_v2_tiny import YOLOv2Tiny, YOLOv2TinyConfig
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3, YOLOv3Config
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (
    Architecture("YOLOv2", YOLOv2, YOLOv2Config),
    Architecture("YOLOv2Tiny", YOLOv2Tiny, YOLOv2TinyConfig),
    Architecture("YOLOv3", YOLOv3, YOLOv3Config),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members(((YOLOv2, YOLO_V2_WEIGHTS), (YOLOv2Tiny, YOLO_V2_TINY_WEIGHTS), (YOLOv3, YOLO_V3_WEIGHTS)))
