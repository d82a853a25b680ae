"""Metrics of semantic segmentation."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.evaluations.label_maps.accumulator import SemanticSegmentationAccumulator
    from cvzoo.evaluations.label_maps.confusion import calc_semantic_segmentation_confusion
    from cvzoo.evaluations.label_maps.eval_semantic_segmentation import eval_semantic_segmentation
    from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult, calc_semantic_segmentation_iou

__all__ = [
    "calc_semantic_segmentation_confusion",
    "calc_semantic_segmentation_iou",
    "eval_semantic_segmentation",
    "SemanticSegmentationAccumulator",
    "SemanticSegmentationResult",
]

import_on_demand(__name__)
