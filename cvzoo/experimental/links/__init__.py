"""ChainerCV's `chainercv.experimental.links`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.experimental.links import model
    from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
    from cvzoo.links.model.fcis.train_chain import FCISTrainChain
    from cvzoo.links.model.pspnet.pspnet import PSPNetResNet50, PSPNetResNet101
    from cvzoo.links.model.yolo.yolo_v2 import YOLOv2Tiny

__all__ = [
    "FCISResNet101",
    "FCISTrainChain",
    "model",
    "PSPNetResNet101",
    "PSPNetResNet50",
    "YOLOv2Tiny",
]

import_on_demand(__name__)
