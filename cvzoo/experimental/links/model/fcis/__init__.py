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

import_on_demand(__name__)
