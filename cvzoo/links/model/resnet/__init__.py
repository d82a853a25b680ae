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

_REPLACED = {
    "Bottleneck": "the blocks of cvzoo.links.ResNetExtractor(n_layer)",
    "ResBlock": "the stages res2 to res5 of cvzoo.links.ResNetExtractor(n_layer)",
}

import_on_demand(__name__, replaced=_REPLACED)
