"""Feature pyramids (Lin et al., 2017)."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPNResNet50, FasterRCNNFPNResNet101
    from cvzoo.links.model.fpn.fpn import FPN
    from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPNResNet50, MaskRCNNFPNResNet101
    from cvzoo.links.model.mask_rcnn.segments import mask_to_segm, segm_to_mask

__all__ = [
    "FasterRCNNFPNResNet101",
    "FasterRCNNFPNResNet50",
    "FPN",
    "mask_to_segm",
    "MaskRCNNFPNResNet101",
    "MaskRCNNFPNResNet50",
    "segm_to_mask",
]

import_on_demand(__name__)
