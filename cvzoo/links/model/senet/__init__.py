"""ChainerCV's `chainercv.links.model.senet`: its names, which the family resnet defines."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.resnet.variants import SEResNet50, SEResNet101, SEResNet152, SEResNeXt50, SEResNeXt101

__all__ = [
    "SEResNet101",
    "SEResNet152",
    "SEResNet50",
    "SEResNeXt101",
    "SEResNeXt50",
]

_REPLACED = {
    "SEResNet": "cvzoo.links.ResNet(n_layer, se=16)",
    "SEResNeXt": "cvzoo.links.ResNet(n_layer, se=16, groups=32, base_width=4)",
}

import_on_demand(__name__, replaced=_REPLACED)
