"""What all two-stage detectors on a pyramid share: from photos to maps, to proposals, to boxes of classes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import to_numpy as on_host
from cvzoo.backends.cuda.boxes import packed_boxes, unpacked
from cvzoo.backends.cuda.constants import constants
from cvzoo.backends.cuda.staging import download
from cvzoo.functions.array.concat import concat
from cvzoo.geometry.nms import classwise_nms
from cvzoo.links.chain import Chain
from cvzoo.links.model.detector import Found
from cvzoo.links.model.faster_rcnn_fpn.anchors import level_anchors
from cvzoo.links.model.faster_rcnn_fpn.backbone import make_backbone, picked_maps
from cvzoo.links.model.faster_rcnn_fpn.box_head import FPNBoxHead
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.decode_regions import decode_regions
from cvzoo.links.model.faster_rcnn_fpn.on_device import (
    DeviceFrames,
    DeviceRegions,
    decode_regions_on_device,
    device_frames,
    propose_on_device,
)
from cvzoo.links.model.faster_rcnn_fpn.propose import propose
from cvzoo.links.model.faster_rcnn_fpn.pyramid_regions import pyramid_regions
from cvzoo.links.model.faster_rcnn_fpn.region_proposal_network import FPNRegionProposalNetwork
from cvzoo.links.model.finished_boxes import photo_numbers
from cvzoo.links.model.thresholds import AbstractThresholds

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

    def find_on_device(
        self, maps: Sequence[Any], size: tuple[int, int], frames: DeviceFrames, thresh: float, *, in_photo: bool
    ) -> DeviceRegions:
        """As `find`, of all photos at once, for maps on a GPU.

        frames: of the photos; in_photo: boxes are in the photos' pixels, not in those of the network's input
        """
        s = self.settings
        locs, confs = self.rpn(maps)
        anchor = constants.get(("RegionNetwork", s, size), lambda: np.concatenate(self.anchors(size)))
        proposals = propose_on_device(
            concat(locs, axis=1).array,
            concat(confs, axis=1).array,
            anchor,
            [conf.shape[1] for conf in confs],
            frames=frames,
            n_proposal=s.n_proposal,
            nms_thresh=s.rpn_nms_thresh,
            score_thresh=s.rpn_score_thresh,
        )
        b, n, _ = proposals.bbox.shape
        loc, conf = self.box_head(self.regions(maps, proposals.bbox.reshape(-1, 4), photo_numbers(b, n), s.roi_size))
        return decode_regions_on_device(
            proposals,
            loc.array.reshape(b, n, -1),
            conf.array.reshape(b, n, -1),
            loc_std=s.loc_std,
            score_thresh=thresh,
            frames=frames.photo if in_photo else frames.seen,
        )

    def look_again_on_device(
        self,
        maps: Sequence[Any],
        size: tuple[int, int],
        seens: Sequence[tuple[int, int]],
        *,
        thresholds: AbstractThresholds,
        roi_size: int,
        head: Callable[[Variable, Any], Any],
    ) -> list[tuple[Found, np.ndarray]] | None:
        """Of each photo what is left after suppression, in pixels of the network's input, and what `head` says of it.

        thresholds: of the model, which must have a limit: so many boxes of each photo are looked at again
        head: from regions (R, C, roi_size, roi_size) and labels (R,) to (R, ...)
        All comes to the host by one copy. None where more boxes score than kernels look at.
        """
        frames = device_frames(seens, seens)
        regions = self.find_on_device(maps, size, frames, thresholds.score_thresh, in_photo=False)
        result = regions.suppressed(frames.seen, nms_thresh=thresholds.nms_thresh, limit=thresholds.limit, clip=False)
        bbox, label = packed_boxes(result)
        b, n, _ = bbox.shape
        said = head(self.regions(maps, bbox.reshape(-1, 4), photo_numbers(b, n), roi_size), label.reshape(-1))
        boxes, saids = download([result, said])
        found = unpacked(boxes)
        if any(each is None for each in found):
            return None
        saids = saids.reshape(b, n, *saids.shape[1:])
        return [(each, one[: len(each[0])]) for each, one in zip(found, saids)]

    def found_again(
        self, regions: DeviceRegions, i: int, thresh: float, seen: tuple[int, int], size: tuple[int, int]
    ) -> Found:
        """What is in photo `i`, in its pixels, before suppression, found on the host."""
        bbox, count, loc, conf = download(
            [regions.proposals.bbox[i], regions.proposals.counts[i : i + 1], regions.loc[i], regions.conf[i]]
        )
        n = int(count[0])
        bbox, label, score = decode_regions(
            bbox[:n], loc[:n], conf[:n], loc_std=self.settings.loc_std, score_thresh=thresh, seen=seen
        )
        return to_photo(bbox, seen, size), label, score

    def find(self, maps: Sequence[Any], size: tuple[int, int], seens: Sequence[tuple[int, int]], thresh: float) -> list:
        """Of each photo what scores above `thresh`: (bbox, label, score), in pixels of the network's input.

        maps: what `forward` gave; size, seens: as in `proposals`
        Photo by photo: so the bits do not depend on which photos came together.
        """
        locs, confs = self.rpn(maps)
        arrays = [on_host(each.array) for each in locs], [on_host(each.array) for each in confs]
        found: list[Found] = []
        for i, bbox in enumerate(self.proposals(*arrays, size, seens)):
            # by level: neighbours in memory, and nothing to put back in order
            loc, conf = self.box_head(self.regions(maps, bbox, np.full(len(bbox), i, np.int32), self.settings.roi_size))
            found.append(
                decode_regions(
                    bbox,
                    on_host(loc.array),
                    on_host(conf.array),
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
