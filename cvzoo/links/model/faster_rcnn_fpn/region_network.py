"""What all two-stage detectors on a pyramid share: from photos to maps, to proposals, to boxes of classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.geometry.nms import classwise_nms
from cvzoo.links.chain import Chain
from cvzoo.links.model.detector import Found
from cvzoo.links.model.faster_rcnn_fpn.anchors import level_anchors
from cvzoo.links.model.faster_rcnn_fpn.backbone import make_backbone, picked_maps
from cvzoo.links.model.faster_rcnn_fpn.box_head import FPNBoxHead
from cvzoo.links.model.faster_rcnn_fpn.decode_regions import decode_regions
from cvzoo.links.model.faster_rcnn_fpn.propose import propose
from cvzoo.links.model.faster_rcnn_fpn.pyramid_regions import pyramid_regions
from cvzoo.links.model.faster_rcnn_fpn.region_proposal_network import FPNRegionProposalNetwork
from cvzoo.links.model.faster_rcnn_fpn.settings import FasterRCNNFPNSettings

# Sizes of photos whose anchors are kept ready
_KEPT = 8


class RegionNetwork(Chain):
    """Backbone, pyramid, region proposal network and box head.

    n_fg_class: number of classes
    settings: how it is built
    """

    def __init__(self, n_fg_class: int, settings: FasterRCNNFPNSettings):
        s = settings
        self.settings = s
        self._anchors: dict[tuple[int, int], list[np.ndarray]] = {}
        with self.init_scope():
            self.extractor, self.fpn = make_backbone(s)
            self.rpn = FPNRegionProposalNetwork(s.channels, s.n_anchor, depth=s.rpn_depth)
            self.box_head = FPNBoxHead(
                s.channels,
                n_fg_class,
                size=s.roi_size,
                n_conv=s.head_convs,
                n_fc=s.head_fcs,
                width=s.head_width,
                norm=s.fpn_norm,
            )

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """The maps (B, channels, H', W'), the finest first, of x (B, 3, H, W); the last is for proposals only."""
        return self.fpn(picked_maps(self.extractor(x), self.settings))

    def anchors(self, size: tuple[int, int]) -> list[np.ndarray]:
        """Of each level (A, 4) float32 for an input of `size` (H, W); not to be changed."""
        found = self._anchors.get(size)
        if found is None:
            found = level_anchors(self.settings, size)
            if len(self._anchors) >= _KEPT:
                self._anchors.clear()  # another dictionary would be another setting: graphs would be made anew
            self._anchors[size] = found
        return found

    def proposals(
        self,
        locs: Sequence[np.ndarray],
        confs: Sequence[np.ndarray],
        size: tuple[int, int],
        seens: Sequence[tuple[int, int]],
        n_proposal: int | None = None,
    ) -> list[np.ndarray]:
        """Of each photo (P, 4) float32, best first.

        locs, confs: arrays of each level, as the region proposal network gives them
        size: (H, W) of the network's input; seens: of each photo, what of it is not padding
        n_proposal: None: as the settings have it
        """
        s = self.settings
        anchors = self.anchors(size)
        return [
            propose(
                [loc[i] for loc in locs],
                [conf[i] for conf in confs],
                anchors,
                seen=seen,
                n_proposal=s.n_proposal if n_proposal is None else n_proposal,
                nms_thresh=s.rpn_nms_thresh,
                score_thresh=s.rpn_score_thresh,
            )
            for i, seen in enumerate(seens)
        ]

    def regions(self, maps: Sequence[Any], bbox: np.ndarray, photo: np.ndarray, size: int) -> Variable:
        """(R, C, size, size) of boxes (R, 4) in photos (R,) int32; see `pyramid_regions`."""
        s = self.settings
        return pyramid_regions(
            maps, bbox, photo, s.strides, size=size, sampling_ratio=s.sampling_ratio, aligned=s.roi_aligned
        )

    def find(self, maps: Sequence[Any], size: tuple[int, int], seens: Sequence[tuple[int, int]], thresh: float) -> list:
        """Of each photo what scores above `thresh`: (bbox, label, score), in pixels of the network's input.

        maps: what `forward` gave; size, seens: as in `proposals`
        Photo by photo: so the bits do not depend on which photos came together.
        """
        locs, confs = self.rpn(maps)
        arrays = [each.array for each in locs], [each.array for each in confs]
        found: list[Found] = []
        for i, bbox in enumerate(self.proposals(*arrays, size, seens)):
            # by level: neighbours in memory, and nothing to put back in order
            loc, conf = self.box_head(self.regions(maps, bbox, np.full(len(bbox), i, np.int32), self.settings.roi_size))
            found.append(
                decode_regions(
                    bbox,
                    loc.array,
                    conf.array,
                    loc_std=self.settings.loc_std,
                    score_thresh=thresh,
                    seen=seens[i],
                )
            )
        return found


def suppressed(found: Found, nms_thresh: float, limit: int | None) -> Found:
    """The best of (bbox, label, score), best first, that overlap no better one of their class too much."""
    bbox, label, score = found
    keep = classwise_nms(bbox, label, score, iou_thresh=nms_thresh, limit=limit)
    return bbox[keep], label[keep], score[keep]


def to_photo(bbox: np.ndarray, seen: Sequence[int], size: Sequence[int]) -> np.ndarray:
    """The boxes in pixels of the photo of `size` (H, W), of which the network saw `seen` (H, W)."""
    return bbox * np.tile(np.float32(size) / np.float32(seen), 2)
