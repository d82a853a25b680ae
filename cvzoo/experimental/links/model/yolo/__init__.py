"""ChainerCV's `chainercv.experimental.links.model.yolo`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.yolo.yolo_v2 import YOLOv2Tiny

__all__ = [
    "YOLOv2Tiny",
]

import_on_demand(__name__)
