"""Pascal VOC's evaluation of boxes and of instance masks."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.evaluations.voc.accumulators import DetectionVOCAccumulator, InstanceSegmentationVOCAccumulator
    from cvzoo.evaluations.voc.average_precision import VOC07_RECALLS, calc_detection_voc_ap
    from cvzoo.evaluations.voc.eval_detection_voc import calc_detection_voc_prec_rec, eval_detection_voc
    from cvzoo.evaluations.voc.eval_instance_segmentation_voc import (
        calc_instance_segmentation_voc_prec_rec,
        eval_instance_segmentation_voc,
    )
    from cvzoo.evaluations.voc.matches import VOCMatches, match_voc_bboxes, match_voc_masks
    from cvzoo.evaluations.voc.result import VOCResult

__all__ = [
    "calc_detection_voc_ap",
    "calc_detection_voc_prec_rec",
    "calc_instance_segmentation_voc_prec_rec",
    "DetectionVOCAccumulator",
    "eval_detection_voc",
    "eval_instance_segmentation_voc",
    "InstanceSegmentationVOCAccumulator",
    "match_voc_bboxes",
    "match_voc_masks",
    "VOC07_RECALLS",
    "VOCMatches",
    "VOCResult",
]

import_on_demand(__name__)
