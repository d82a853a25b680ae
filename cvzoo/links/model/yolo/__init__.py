"""YOLOv2 and YOLOv3, one-stage detectors (Redmon and Farhadi, 2017 and 2018)."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.yolo.darknet import Darknet19Extractor, Darknet53Extractor
    from cvzoo.links.model.yolo.yolo_v2 import YOLOv2
    from cvzoo.links.model.yolo.yolo_v3 import YOLOv3

__all__ = [
    "Darknet19Extractor",
    "Darknet53Extractor",
    "YOLOv2",
    "YOLOv3",
]

import_on_demand(__name__)
