"""ChainerCV's `chainercv.experimental.links.model.pspnet`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.pspnet.pspnet import PSPNet, PSPNetResNet50, PSPNetResNet101, convolution_crop

__all__ = [
    "convolution_crop",
    "PSPNet",
    "PSPNetResNet101",
    "PSPNetResNet50",
]

import_on_demand(__name__)
