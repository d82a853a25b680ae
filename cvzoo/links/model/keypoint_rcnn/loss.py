"""What a Keypoint R-CNN is trained with: the network and its losses as one link."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.faster_rcnn_fpn.loss import RegionLosses, RegionSampling, joined, reported
from cvzoo.links.model.faster_rcnn_fpn.sampling import truths
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN


class KeypointRCNNFPNLoss(Chain):
    """Training loss of Keypoint R-CNN, a scalar: `KeypointRCNNFPNLoss(model)(x, bboxes, labels, points, visibles)`.

    model: the network
    sampling: which anchors and regions are learned from; points are learned from the regions that have an object

    Reports loss, loss/rpn_loc, loss/rpn_conf, loss/loc, loss/conf and loss/point.
    Source: He et al., Mask R-CNN, 2017, section 5: each point is one of the places of its map, by the cross entropy of
    a softmax over all of them; the mean over visible points.
    """

    def __init__(self, model: KeypointRCNNFPN, *, sampling: RegionSampling = RegionSampling()):  # noqa: B008, it is frozen
        self._losses = RegionLosses(sampling)
        with self.init_scope():
            self.model = model

    def forward(
        self,
        x: Any,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        points: Sequence[np.ndarray],
        visibles: Sequence[np.ndarray],
        ignored: Sequence[np.ndarray] | None = None,
    ) -> Variable:
        """The loss, a number.

        x, bboxes, labels, ignored: as in `FasterRCNNFPNLoss`
        points, visibles: of each image (R, K, 2) float32, y x, pixels of x, and (R, K) bool
        Raises ShapeError if there is not one element per image, or not one row of points a box.
        What `check_objects` raises.
        """
        check_objects(type(self).__name__, bboxes, labels, self.model.n_fg_class)
        objects = truths(bboxes, labels, ignored)
        if [len(each) for each in points] != [len(each.label) for each in objects]:
            raise ShapeError("KeypointRCNNFPNLoss: points must be one row a box", got=[len(each) for each in points])
        losses, maps, sampled = self._losses(self.model.regions, x, objects)
        bbox, photo = joined(sampled, positive=True)
        match = [each.match[each.match >= 0] for each in sampled]
        point = np.concatenate([np.asarray(each, np.float32)[index] for each, index in zip(points, match)])
        visible = np.concatenate([np.asarray(each, bool)[index] for each, index in zip(visibles, match)])
        model = self.model
        score = model.point_head(model.regions.regions(maps, bbox, photo, model.point_settings.roi_size))
        target = point_targets(point, visible, bbox, score.shape[2])
        flat = F.reshape(score, (-1, score.shape[2] * score.shape[3]))
        losses["point"] = F.softmax_cross_entropy(flat, target.reshape(-1), ignore_label=IGNORED)
        return reported(losses, self)


IGNORED = -1


def point_targets(point: np.ndarray, visible: np.ndarray, bbox: np.ndarray, size: int) -> np.ndarray:
    """(N, K) int32: the place of each point on the map of its region, row * size + column; -1 where it has none.

    point: (N, K, 2) float32, y x, pixels of the network's input; visible: (N, K) bool
    bbox: (N, 4) float32, the regions
    size: places of a map along a side
    A point that is not visible or lies outside of its region has no place; one on the far edge has the last.
    Raises ShapeError if the arrays do not fit together.
    """
    if point.shape != (*visible.shape, 2) or len(point) != len(bbox):
        raise ShapeError("point_targets: one row of points a region", got=(point.shape, visible.shape, bbox.shape))
    sides = np.maximum(bbox[:, 2:] - bbox[:, :2], 1e-6)[:, None]
    place = np.floor((point - bbox[:, None, :2]) * (size / sides))
    place = np.where(point == bbox[:, None, 2:], size - 1, place)
    inside = ((place >= 0) & (place < size)).all(axis=2) & visible
    place = np.where(inside[..., None], place, 0).astype(np.int32)
    return np.where(inside, place[..., 0] * size + place[..., 1], IGNORED).astype(np.int32)
