"""What each anchor should say about a photo's objects."""

import dataclasses

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.links.model.faster_rcnn.bbox2loc import bbox2loc


@dataclasses.dataclass(frozen=True)
class AnchorTargetCreator:
    """`AnchorTargetCreator()(bbox, anchor, img_size)`: offsets (S, 4) float32 and labels (S,) int32.

    n_sample: so many anchors are learned from, drawn at random
    pos_iou_thresh: an anchor has an object if its highest IoU is at least this; each object's best anchor has it, too
    neg_iou_thresh: an anchor is background if its highest IoU is below this
    pos_ratio: at most this share of n_sample has an object

    Source: Ren et al., "Faster R-CNN", 2015, sections 3.1.2 and 3.1.3.
    """

    n_sample: int = 256
    pos_iou_thresh: float = 0.7
    neg_iou_thresh: float = 0.3
    pos_ratio: float = 0.5

    def __call__(
        self, bbox: np.ndarray, anchor: np.ndarray, img_size: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """(loc, label): label is 1 for an object, 0 for background, -1 for anchors that are not learned from.

        bbox: (R, 4) float32, the photo's objects, pixels of the network's input; R may be 0
        anchor: (S, 4); those that stick out of the photo are not learned from
        img_size: (H, W)
        """
        height, width = img_size
        loc = np.zeros(anchor.shape, np.float32)
        label = np.full(len(anchor), -1, np.int32)
        inside = np.flatnonzero((anchor[:, :2] >= 0).all(1) & (anchor[:, 2] <= height) & (anchor[:, 3] <= width))
        if not len(inside):
            return loc, label
        own = np.full(len(inside), -1, np.int32)
        if len(bbox):
            iou = bbox_iou(anchor[inside], bbox)
            best = iou.argmax(axis=1)
            highest = iou[np.arange(len(inside)), best]
            own[highest < self.neg_iou_thresh] = 0
            of_object = iou.max(axis=0)
            own[((iou == of_object) & (of_object > 0)).any(axis=1)] = 1
            own[highest >= self.pos_iou_thresh] = 1
            loc[inside] = bbox2loc(anchor[inside], bbox[best])
        else:
            own[:] = 0
        n_pos = int(self.pos_ratio * self.n_sample)
        _forget(own, 1, n_pos)
        _forget(own, 0, self.n_sample - int((own == 1).sum()))
        label[inside] = own
        return loc, label


def _forget(label: np.ndarray, value: int, n: int) -> None:
    """Set all but n of those with a value to -1."""
    those = np.flatnonzero(label == value)
    if len(those) > n:
        label[random_generator().choice(those, len(those) - n, replace=False)] = -1
