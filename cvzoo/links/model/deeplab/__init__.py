"""DeepLabV3 and DeepLabV3+ (Chen et al., 2017 and 2018)."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.deeplab.deeplab_v3_plus import Decoder, DeepLabV3plusXception65, SeparableASPP
    from cvzoo.links.model.deeplab.xception import Xception65, XceptionBlock

__all__ = [
    "Decoder",
    "DeepLabV3plusXception65",
    "SeparableASPP",
    "Xception65",
    "XceptionBlock",
]

import_on_demand(__name__)
