"""Training loss of Keypoint R-CNN."""

from collections.abc import Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.loss.batch_part import AbstractBatchLoss, as_batch_mean
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.faster_rcnn_fpn.loss import RegionLosses, RegionSampling, joined, reported
from cvzoo.links.model.faster_rcnn_fpn.sampling import truths
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.typing.aliases import Array


class KeypointRCNNFPNLoss(AbstractBatchLoss, Chain):
    """Training loss of Keypoint R-CNN, a scalar: `KeypointRCNNFPNLoss(model)(x, bboxes, labels, points, visibles)`.

    model: the network
    sampling: of anchors and regions; the keypoint loss is computed on positive regions

    Reports loss, loss/rpn_loc, loss/rpn_conf, loss/loc, loss/conf and loss/point.
    Source: He et al., Mask R-CNN, 2017, section 5: softmax cross entropy over the positions of a keypoint's map;
    the mean over visible keypoints.
    """

    def __init__(self, model: KeypointRCNNFPN, *, sampling: RegionSampling = RegionSampling()):  # noqa: B008, it is frozen
        self._losses = RegionLosses(sampling)
        with self.init_scope():
            self.model = model

    def forward(
        self,
        x: Variable | Array,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        points: Sequence[np.ndarray],
        visibles: Sequence[np.ndarray],
        ignored: Sequence[np.ndarray] | None = None,
    ) -> Variable:
        """The loss, a scalar.

        x, bboxes, labels, ignored: as in `FasterRCNNFPNLoss`
        points, visibles: of each image (R, K, 2) float32, y x, pixels of x, and (R, K) bool
        Raises ShapeError if there is not one element per image, or not one row of points a box.
        What `check_objects` raises.
        """
        check_objects(type(self).__name__, bboxes, labels, self.model.n_fg_class)
        objects = truths(bboxes, labels, ignored)
        if [len(each) for each in points] != [len(each.label) for each in objects]:
            raise ShapeError(
                "KeypointRCNNFPNLoss: points must have one row per box", got=[len(each) for each in points]
            )
        losses, maps, sampled = self._losses(self.model.regions, x, objects)
        bbox, image = joined(sampled, positive=True)
        match = [each.match[each.match >= 0] for each in sampled]
        point = np.concatenate([np.asarray(each, np.float32)[index] for each, index in zip(points, match)])
        visible = np.concatenate([np.asarray(each, bool)[index] for each, index in zip(visibles, match)])
        model = self.model
        score = model.point_head(model.regions.regions(maps, bbox, image, model.point_settings.roi_size))
        target = point_targets(point, visible, bbox, score.shape[2])
        flat = F.reshape(score, (-1, score.shape[2] * score.shape[3]))
        loss = F.softmax_cross_entropy(flat, target.reshape(-1), ignore_label=IGNORED)
        losses["point"] = as_batch_mean(loss, int((target != IGNORED).sum()))
        return reported(losses, self)


IGNORED = -1


def point_targets(point: np.ndarray, visible: np.ndarray, bbox: np.ndarray, size: int) -> np.ndarray:
    """(N, K) int32: the position of each keypoint in its region's map, row * size + column; -1 for none.

    point: (N, K, 2) float32, y x, pixels of the network's input; visible: (N, K) bool
    bbox: (N, 4) float32, the regions
    size: side of a map
    A keypoint that is not visible or is outside of its region has no position; on the far edge it has the last one.
    Raises ShapeError for arrays of wrong shapes.
    """
    if point.shape != (*visible.shape, 2) or len(point) != len(bbox):
        raise ShapeError(
            "point_targets: there must be one row of points per region", got=(point.shape, visible.shape, bbox.shape)
        )
    sides = np.maximum(bbox[:, 2:] - bbox[:, :2], 1e-6)[:, None]
    place = np.floor((point - bbox[:, None, :2]) * (size / sides))
    place = np.where(point == bbox[:, None, 2:], size - 1, place)
    inside = ((place >= 0) & (place < size)).all(axis=2) & visible
    place = np.where(inside[..., None], place, 0).astype(np.int32)
    return np.where(inside, place[..., 0] * size + place[..., 1], IGNORED).astype(np.int32)
