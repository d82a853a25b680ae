"""ChainerCV's `chainercv.links.model.mobilenet`: its names, which the family mobilenet_v2 defines."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2

__all__ = [
    "MobileNetV2",
]

_REPLACED = {
    "ExpandedConv2D": "the blocks of cvzoo.links.MobileNetV2Extractor",
    "TFConv2DBNActiv": "cvzoo.links.Conv2DBNActiv behind cvzoo.functions.pad",
    "TFConvolution2D": "cvzoo.links.Convolution2D behind cvzoo.functions.pad",
}

import_on_demand(__name__, replaced=_REPLACED)
