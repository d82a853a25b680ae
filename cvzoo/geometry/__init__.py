"""Boxes and masks as plain arrays: areas, overlaps, NMS, anchors, box coding, formats and run-length encoding."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.geometry.anchors import cell_anchors, grid_anchors
    from cvzoo.geometry.as_bbox import as_bbox
    from cvzoo.geometry.as_size import as_size
    from cvzoo.geometry.bbox_area import bbox_area
    from cvzoo.geometry.bbox_giou import bbox_giou
    from cvzoo.geometry.bbox_iou import bbox_intersection, bbox_iou
    from cvzoo.geometry.best_pairs import best_pairs
    from cvzoo.geometry.clip_bbox import clip_bbox
    from cvzoo.geometry.coding import decode_bbox, encode_bbox
    from cvzoo.geometry.fit_anchors import AnchorFit, best_anchor_iou, cluster_boxes, fit_anchors
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
    from cvzoo.geometry.mask_to_bbox import mask_to_bbox
    from cvzoo.geometry.nms import classwise_nms, nms, non_maximum_suppression
    from cvzoo.geometry.polygons_to_rle import polygons_to_rle
    from cvzoo.geometry.quads import bbox_to_quad, quad_to_bbox
    from cvzoo.geometry.rle import RLEs
    from cvzoo.geometry.rle_iou import mask_iou, rle_iou, rle_iou_pairs
    from cvzoo.geometry.rle_merge import merge_rles
    from cvzoo.geometry.weighted_boxes_fusion import weighted_boxes_fusion
    from cvzoo.geometry.window_rle import window_rles

__all__ = [
    "AnchorFit",
    "as_bbox",
    "as_size",
    "bbox_area",
    "bbox_giou",
    "bbox_intersection",
    "bbox_iou",
    "bbox_to_quad",
    "best_anchor_iou",
    "best_pairs",
    "cell_anchors",
    "classwise_nms",
    "clip_bbox",
    "cluster_boxes",
    "decode_bbox",
    "encode_bbox",
    "fit_anchors",
    "from_cxcywh",
    "from_normalized",
    "from_xywh",
    "from_xyxy",
    "grid_anchors",
    "mask_iou",
    "mask_to_bbox",
    "merge_rles",
    "nms",
    "non_maximum_suppression",
    "polygons_to_rle",
    "quad_to_bbox",
    "rle_iou",
    "rle_iou_pairs",
    "RLEs",
    "to_cxcywh",
    "to_normalized",
    "to_xywh",
    "to_xyxy",
    "weighted_boxes_fusion",
    "window_rles",
]

import_on_demand(__name__)
