"""Boxes as plain arrays: area, overlap, clipping, coding, formats, suppression. No gradients, no photos, no models."""

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.geometry.bbox_giou import bbox_giou
from cvzoo.geometry.bbox_iou import bbox_intersection, bbox_iou
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.coding import decode_bbox, encode_bbox
from cvzoo.geometry.formats import (
    from_cxcywh,
    from_normalized,
    from_xywh,
    from_xyxy,
    to_cxcywh,
    to_normalized,
    to_xywh,
    to_xyxy,
)
from cvzoo.geometry.nms import classwise_nms, nms

__all__ = [
    "as_bbox",
    "as_size",
    "bbox_area",
    "bbox_giou",
    "bbox_intersection",
    "bbox_iou",
    "classwise_nms",
    "clip_bbox",
    "decode_bbox",
    "encode_bbox",
    "from_cxcywh",
    "from_normalized",
    "from_xywh",
    "from_xyxy",
    "nms",
    "to_cxcywh",
    "to_normalized",
    "to_xywh",
    "to_xyxy",
]
