"""ResNet and its variants, image classifiers and backbones (He et al., 2016)."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.resnet.resnet import ResNet, ResNet50, ResNet101, ResNet152

__all__ = [
    "ResNet",
    "ResNet101",
    "ResNet152",
    "ResNet50",
]

import_on_demand(__name__)
