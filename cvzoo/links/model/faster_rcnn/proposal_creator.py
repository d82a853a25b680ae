"""Regions worth a second look, out of all anchors."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.cuda.boxes import decode_selected, frame, gather_boxes
from cvzoo.backends.cuda.nms import nms_batch
from cvzoo.backends.cuda.selection import select_best, sort_candidates
from cvzoo.backends.cuda.staging import upload
from cvzoo.config.switches import switches
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.nms import nms
from cvzoo.links.model.faster_rcnn.bbox2loc import loc2bbox
from cvzoo.links.model.faster_rcnn_fpn.on_device import Proposals
from cvzoo.links.model.finished_boxes import ANY_SIDE, as_floats


@dataclasses.dataclass(frozen=True)
class ProposalCreator:
    """`ProposalCreator()(loc, score, anchor, img_size, scale)`: the best regions of a photo, (R, 4) float32.

    nms_thresh: of two regions whose IoU is greater, the lower score is dropped
    n_train_pre_nms, n_test_pre_nms: so many of the best go into the suppression, while training and otherwise
    n_train_post_nms, n_test_post_nms: so many at most come out of it
    min_size: a region with a shorter side is dropped, pixels of the photo as it was read; an empty one always is
    """

    nms_thresh: float = 0.7
    n_train_pre_nms: int = 12000
    n_train_post_nms: int = 2000
    n_test_pre_nms: int = 6000
    n_test_post_nms: int = 300
    min_size: float = 16

    def __call__(
        self, loc: np.ndarray, score: np.ndarray, anchor: np.ndarray, img_size: Any, scale: float = 1.0
    ) -> np.ndarray:
        """(R, 4) float32, y_min x_min y_max x_max, best first, inside of the photo.

        loc: (S, 4) offsets of the anchors
        score: (S,)
        anchor: (S, 4)
        img_size: (H, W) of the network's input
        scale: the network's pixels for one of the photo
        """
        train = switches.train
        n_pre = self.n_train_pre_nms if train else self.n_test_pre_nms
        n_post = self.n_train_post_nms if train else self.n_test_post_nms
        roi = clip_bbox(loc2bbox(anchor, loc), img_size)
        side = roi[:, 2:] - roi[:, :2]
        large = ((side >= self.min_size * scale) & (side > 0)).all(axis=1)
        roi, score = roi[large], score[large]
        if 0 < n_pre < len(score):
            # the best n_pre only are put in order; of equals at the edge the earlier ones
            edge = np.partition(score, len(score) - n_pre)[len(score) - n_pre]
            above, equal = np.flatnonzero(score > edge), np.flatnonzero(score == edge)
            chosen = np.sort(np.concatenate([above, equal[: n_pre - len(above)]]))
            roi, score = roi[chosen], score[chosen]
        keep = nms(roi, score, iou_thresh=self.nms_thresh, limit=n_post if n_post > 0 else None)
        return roi[keep]

    def on_device(self, loc: Any, score: Any, anchor: Any, img_size: Any, scales: Sequence[float]) -> Proposals:
        """The same of all photos at once, on a GPU, while nothing is trained: loc (B, S, 4), score (B, S).

        img_size: (H, W) of the network's input; scales: of each photo
        """
        n = anchor.shape[0]
        frames = [frame(img_size, cut=img_size, min_side=max(self.min_size * scale, ANY_SIDE)) for scale in scales]
        (frames,) = upload([np.stack(frames)])
        # all are decoded before the best are picked: a small one makes room for the next
        every = select_best(as_floats(score), [(0, n)], limit=n, above=-np.inf)
        boxes = sort_candidates(decode_selected(every, as_floats(loc), anchor, frames=frames, n_class=1))
        n_pre = self.n_test_pre_nms if 0 < self.n_test_pre_nms < n else n
        limit = self.n_test_post_nms if self.n_test_post_nms > 0 else None
        kept = nms_batch(boxes, iou_thresh=self.nms_thresh, limit=limit, classwise=False, most=n_pre)
        return Proposals(gather_boxes(boxes, kept), kept.counts)
