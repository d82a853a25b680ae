"""ChainerCV's `chainercv.links.model.senet`: its names, which the family resnet defines."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.resnet.resnet import (
        SEResNet,
        SEResNet50,
        SEResNet101,
        SEResNet152,
        SEResNeXt,
        SEResNeXt50,
        SEResNeXt101,
    )

__all__ = [
    "SEResNet",
    "SEResNet101",
    "SEResNet152",
    "SEResNet50",
    "SEResNeXt",
    "SEResNeXt101",
    "SEResNeXt50",
]

import_on_demand(__name__)
