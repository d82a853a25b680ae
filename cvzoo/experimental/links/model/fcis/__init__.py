"""ChainerCV's `chainercv.experimental.links.model.fcis`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
    from cvzoo.links.model.fcis.head import FCISResNet101Head
    from cvzoo.links.model.fcis.mask_voting import mask_voting
    from cvzoo.links.model.fcis.train_chain import FCISTrainChain

__all__ = [
    "FCISResNet101",
    "FCISResNet101Head",
    "FCISTrainChain",
    "mask_voting",
]

_REPLACED = {
    "FCIS": "cvzoo.links.FCISResNet101, or a class of your own below cvzoo.links.AbstractInstanceSegmenter",
    "ProposalTargetCreator": "cvzoo.links.ProposalTargetCreator, given to cvzoo.links.FCISTrainChain",
    "ResNet101Extractor": "cvzoo.links.ResNetExtractor(101, arch='he', norm='frozen', dilations=(1, 1, 1, 2))",
}

import_on_demand(__name__, replaced=_REPLACED)
