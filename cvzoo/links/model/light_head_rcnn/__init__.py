"""Light-Head R-CNN, a two-stage detector (Li et al., 2017)."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.faster_rcnn.faster_rcnn import LightHeadRCNN
    from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import GlobalContextModule, LightHeadRCNNResNet101
    from cvzoo.links.model.light_head_rcnn.train_chain import LightHeadRCNNTrainChain

__all__ = [
    "GlobalContextModule",
    "LightHeadRCNN",
    "LightHeadRCNNResNet101",
    "LightHeadRCNNTrainChain",
]

import_on_demand(__name__)
