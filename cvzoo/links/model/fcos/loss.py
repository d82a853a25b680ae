"""Training loss of FCOS."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.batch_part import AbstractBatchLoss, batch_divisor
from cvzoo.functions.loss.focal_loss import BACKGROUND, IGNORED, focal_loss
from cvzoo.functions.loss.giou_loss import giou_loss
from cvzoo.functions.loss.reduction import beside
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.decoding.point_levels import Places
from cvzoo.links.model.fcos.fcos import FCOS
from cvzoo.reporting.reporter import report
from cvzoo.typing.aliases import Array

# a level is assigned objects whose farthest side is 4 to 8 strides away; the finest also smaller, the coarsest also
# larger ones
_NEAR, _FAR = 4, 8


class Targets(NamedTuple):
    """Training targets of a batch of B images with A positions each.

    label: (B, A) int32; a class, -1 background, -2 ignored
    positive: (P,) int64, indices of positive positions among the B * A, ascending
    bbox: (P, 4) float32, their ground truth boxes, in pixels of the network's input
    """

    label: np.ndarray
    positive: np.ndarray
    bbox: np.ndarray


def match_places(places: Places, bbox: np.ndarray, *, radius: float = 1.5) -> np.ndarray:
    """The object matched to each position: (A,) int64, a row of bbox, -1 for background.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the network's input
    radius: center sampling: positions more than this many strides from the object's center are not matched to it
    A position within several objects is matched to the smallest.
    Source: Tian et al., FCOS, ICCV 2019, section 3.1 and (radius) the later version of 2020, as in torchvision.
    """
    bbox = as_bbox(bbox)
    if not len(bbox):
        return np.full(len(places.center), BACKGROUND, np.int64)
    center, stride = places.center[:, None], places.stride[:, None]
    inside = np.concatenate([center - bbox[:, :2], bbox[:, 2:] - center], axis=2)  # (A, R, 4)
    off = np.abs(center - (bbox[:, :2] + bbox[:, 2:]) / 2).max(axis=2)
    far = inside.max(axis=2)
    low, high = _NEAR * stride, _FAR * stride
    low[: places.counts[0]], high[len(high) - places.counts[-1] :] = 0, np.inf
    own = (inside.min(axis=2) > 0) & (off < radius * stride) & (far > low) & (far < high)
    # of several objects the smallest, as in the paper
    cost = np.where(own, bbox_area(bbox), np.inf)
    match = cost.argmin(axis=1)
    return np.where(own.any(axis=1), match, BACKGROUND)


def assign_targets(
    places: Places,
    bboxes: Sequence[np.ndarray],
    labels: Sequence[np.ndarray],
    ignored: Sequence[np.ndarray] | None = None,
    *,
    radius: float = 1.5,
) -> Targets:
    """The targets of a batch.

    bboxes, labels: of each image (R, 4) float32 in pixels of the network's input and (R,) int32; R may be 0
    ignored: of each image (R,) bool, True for crowds, difficult or cut objects: they are not targets, and a position
        within one is ignored unless it is matched
    Raises ShapeError if boxes, labels and flags differ in number.
    """
    ignored = [np.zeros(len(bbox), bool) for bbox in bboxes] if ignored is None else ignored
    if not len(bboxes) == len(labels) == len(ignored):
        raise ShapeError("bboxes, labels and ignored need one element per image", got=(len(bboxes), len(labels)))
    n = len(places.center)
    label = np.full((len(bboxes), n), BACKGROUND, np.int32)
    positives, boxes = [np.empty(0, np.int64)], [np.empty((0, 4), np.float32)]
    for i, (bbox, classes, skip) in enumerate(zip(bboxes, labels, ignored)):
        bbox, classes, skip = as_bbox(bbox), np.asarray(classes, np.int32), np.asarray(skip, bool)
        if not len(bbox) == len(classes) == len(skip):
            raise ShapeError(f"image {i}: boxes and labels differ in number", got=(len(bbox), len(classes), len(skip)))
        for region in bbox[skip]:
            within = ((places.center >= region[:2]) & (places.center < region[2:])).all(axis=1)
            label[i, within] = IGNORED
        bbox, classes = bbox[~skip], classes[~skip]
        match = match_places(places, bbox, radius=radius)
        matched = np.flatnonzero(match >= 0)
        label[i, matched] = classes[match[matched]]
        positives.append(matched + i * n)
        boxes.append(bbox[match[matched]].astype(np.float32, copy=False))
    return Targets(label, np.concatenate(positives), np.concatenate(boxes))


class FCOSLoss(AbstractBatchLoss, Chain):
    """Training loss of FCOS, a scalar: `FCOSLoss(model)(x, bboxes, labels)`.

    model: the network
    alpha, gamma: of the focal loss

    The sum of the focal loss of the classes, the GIoU loss of the boxes and the cross entropy of the centerness, each
    divided by the number of positive positions (at least 1). Reports loss, loss/loc, loss/conf and loss/center.
    Source: Tian et al., FCOS, ICCV 2019, equation 2; GIoU and the unweighted box loss as in torchvision.
    """

    def __init__(self, model: FCOS, *, alpha: float = 0.25, gamma: float = 2.0):
        self.alpha, self.gamma = alpha, gamma
        with self.init_scope():
            self.model = model

    def forward(
        self,
        x: Variable | Array,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        ignored: Sequence[np.ndarray] | None = None,
    ) -> Variable:
        """The loss, a scalar.

        x: (B, 3, H, W) float32, preprocessed, such as by `RetinaNetTransform` and `collate_images`
        bboxes, labels: of each image (R, 4) float32, pixels of x, and (R,) int32
        ignored: of each image (R,) bool, see `assign_targets`
        Raises ShapeError if there is not one element per image.
        What `check_objects` raises.
        """
        if len(bboxes) != x.shape[0]:
            raise ShapeError("FCOSLoss: bboxes must be one per image", expected=x.shape[0], got=len(bboxes))
        check_objects(type(self).__name__, bboxes, labels, self.model.n_fg_class)
        loc, conf, center = self.model(x)
        places = self.model.decoding.places(x.shape[2:])
        targets = assign_targets(places, bboxes, labels, ignored, radius=self.model.settings.radius)
        divisor = float(batch_divisor(len(targets.positive)))
        conf_loss = focal_loss(conf, targets.label, alpha=self.alpha, gamma=self.gamma, normalizer=divisor)
        place = targets.positive % len(places.center)
        middle, stride = places.center[place], places.stride[place][:, None]
        code = widened(F.reshape(loc, (-1, 4))[targets.positive])
        score = F.reshape(center, (-1,))[targets.positive]
        target = centredness(targets.bbox, middle)
        middle, stride = beside(middle, code), beside(stride, code)
        code = code * stride
        bbox = F.concat([middle - code[:, :2], middle + code[:, 2:]], axis=1)
        loc_loss = giou_loss(bbox, targets.bbox, reduce="sum") * (1 / divisor)
        center_loss = F.sigmoid_cross_entropy(score, target, reduce="sum") * (1 / divisor)
        loss = conf_loss + loc_loss + center_loss
        report({"loss": loss, "loss/loc": loc_loss, "loss/conf": conf_loss, "loss/center": center_loss}, self)
        return loss


def centredness(bbox: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Centerness (R,) float32, 1 at the center of bbox (R, 4) and 0 at its edges, for positions (R, 2), y x, inside.

    Source: Tian et al., FCOS, ICCV 2019, equation 3.
    """
    low, high = place - bbox[:, :2], bbox[:, 2:] - place
    return np.sqrt((np.minimum(low, high) / np.maximum(low, high)).prod(axis=1))
