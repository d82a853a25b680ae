"""Non-maximum suppression of one class."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.bbox_iou import bbox_iou


def nms(bbox, score=None, *, iou_thresh, limit=None):
    """Indices of the boxes that stay, best first."""
    bbox = as_bbox(bbox)
    order = np.arange(len(bbox)) if score is None else np.argsort(-np.asarray(score), kind="stable")
    kept = []
    while len(order) and (limit is None or len(kept) < limit):
        kept.append(order[0])
        iou = bbox_iou(bbox[order[:1]], bbox[order[1:]])[0]
        order = order[1:][~(iou > np.float32(iou_thresh))]
    return np.array(kept, dtype=np.int64)
