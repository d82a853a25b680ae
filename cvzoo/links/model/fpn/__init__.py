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

_REPLACED = {
    "bbox_head_loss_post": "cvzoo.links.FasterRCNNFPNLoss(model, sampling=cvzoo.links.RegionSampling())",
    "bbox_head_loss_pre": "cvzoo.links.FasterRCNNFPNLoss(model, sampling=cvzoo.links.RegionSampling())",
    "BboxHead": "cvzoo.links.FPNBoxHead(channels, n_fg_class), which takes the regions themselves",
    "FasterRCNN": "cvzoo.links.FasterRCNNFPN or cvzoo.links.MaskRCNNFPN, whose settings say what they are built from",
    "FasterRCNNFPNResNet": "cvzoo.links.FasterRCNNFPN(settings=cvzoo.links.FasterRCNNFPNConfig(...))",
    "mask_head_loss_post": "cvzoo.links.MaskRCNNFPNLoss(model, sampling=cvzoo.links.RegionSampling())",
    "mask_head_loss_pre": "cvzoo.links.MaskRCNNFPNLoss(model, sampling=cvzoo.links.RegionSampling())",
    "MaskHead": "cvzoo.links.MaskHead(in_channels, n_fg_class, settings), which takes the regions themselves",
    "RPN": "cvzoo.links.FPNRegionProposalNetwork(channels, n_anchor)",
    "rpn_loss": "cvzoo.links.FasterRCNNFPNLoss(model, sampling=cvzoo.links.RegionSampling())",
}

import_on_demand(__name__, replaced=_REPLACED)
