"""ChainerCV's `chainercv.links.model.mobilenet`: its names, which the family mobilenet_v2 defines."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2
    from cvzoo.links.model.mobilenet_v2.tf_layers import ExpandedConv2D, TFConv2DBNActiv, TFConvolution2D

__all__ = [
    "ExpandedConv2D",
    "MobileNetV2",
    "TFConv2DBNActiv",
    "TFConvolution2D",
]

import_on_demand(__name__)
