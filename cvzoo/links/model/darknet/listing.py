"""Detectors of darknet's cfgs in listings and in files."""

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.darknet.config import DarknetConfig
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.darknet.published import mobilenet_v2_yolo_v3_nano, yolo_fastest
from cvzoo.links.model.darknet.weights import MOBILENET_V2_YOLO_V3_NANO_VOC, YOLO_FASTEST_COCO
from cvzoo.links.model.zoo_member import ZooMember

ARCHITECTURES = (Architecture("DarknetDetector", DarknetDetector, DarknetConfig),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return [
        ZooMember("yolo_fastest", yolo_fastest, YOLO_FASTEST_COCO.weights, tuple(YOLO_FASTEST_COCO)),
        ZooMember(
            "mobilenet_v2_yolo_v3_nano",
            mobilenet_v2_yolo_v3_nano,
            MOBILENET_V2_YOLO_V3_NANO_VOC.weights,
            tuple(MOBILENET_V2_YOLO_V3_NANO_VOC),
        ),
    ]
