"""Faster R-CNN (Ren et al., 2015) on one feature map."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.faster_rcnn.faster_rcnn import FasterRCNN
    from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16, VGG16RoIHead
    from cvzoo.links.model.faster_rcnn.region_proposal_network import (
        ProposalCreator,
        RegionProposalNetwork,
        generate_anchor_base,
    )
    from cvzoo.links.model.faster_rcnn.targets import AnchorTargetCreator, ProposalTargetCreator, bbox2loc, loc2bbox
    from cvzoo.links.model.faster_rcnn.train_chain import FasterRCNNTrainChain

__all__ = [
    "AnchorTargetCreator",
    "bbox2loc",
    "FasterRCNN",
    "FasterRCNNTrainChain",
    "FasterRCNNVGG16",
    "generate_anchor_base",
    "loc2bbox",
    "ProposalCreator",
    "ProposalTargetCreator",
    "RegionProposalNetwork",
    "VGG16RoIHead",
]

import_on_demand(__name__)
