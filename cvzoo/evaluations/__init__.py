"""Metrics as pure functions of arrays, and as accumulators that stream and merge."""

from cvzoo.evaluations.analysis.detection_confusion import calc_detection_confusion
from cvzoo.evaluations.analysis.detection_table import DetectionTable
from cvzoo.evaluations.analysis.error_types import ErrorTypes, calc_error_types
from cvzoo.evaluations.analysis.pr_curves import PRCurve, calc_pr_curves
from cvzoo.evaluations.analysis.reliability import Reliability, calc_reliability
from cvzoo.evaluations.analysis.score_thresholds import ScoreThresholds, calc_score_thresholds
from cvzoo.evaluations.classification.accumulator import ClassificationAccumulator
from cvzoo.evaluations.classification.eval_classification import eval_classification
from cvzoo.evaluations.classification.result import ClassificationResult
from cvzoo.evaluations.coco.evaluate import evaluate_coco
from cvzoo.evaluations.coco.lvis import evaluate_lvis
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.result import COCOResult
from cvzoo.evaluations.eval_detection_coco import DetectionCOCOAccumulator, eval_detection_coco
from cvzoo.evaluations.eval_instance_segmentation_coco import (
    InstanceSegmentationCOCOAccumulator,
    eval_instance_segmentation_coco,
)
from cvzoo.evaluations.eval_keypoint_coco import KeypointCOCOAccumulator, eval_keypoint_coco
from cvzoo.evaluations.label_maps.accumulator import SemanticSegmentationAccumulator
from cvzoo.evaluations.label_maps.confusion import calc_semantic_segmentation_confusion
from cvzoo.evaluations.label_maps.eval_semantic_segmentation import eval_semantic_segmentation
from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult, calc_semantic_segmentation_iou
from cvzoo.evaluations.panoptic.accumulator import PanopticAccumulator
from cvzoo.evaluations.panoptic.eval_panoptic_segmentation import eval_panoptic_segmentation
from cvzoo.evaluations.panoptic.result import PanopticResult
from cvzoo.evaluations.voc.accumulators import DetectionVOCAccumulator, InstanceSegmentationVOCAccumulator
from cvzoo.evaluations.voc.average_precision import calc_detection_voc_ap
from cvzoo.evaluations.voc.eval_detection_voc import calc_detection_voc_prec_rec, eval_detection_voc
from cvzoo.evaluations.voc.eval_instance_segmentation_voc import (
    calc_instance_segmentation_voc_prec_rec,
    eval_instance_segmentation_voc,
)
from cvzoo.evaluations.voc.result import VOCResult

__all__ = [
    "calc_detection_confusion",
    "calc_detection_voc_ap",
    "calc_detection_voc_prec_rec",
    "calc_error_types",
    "calc_instance_segmentation_voc_prec_rec",
    "calc_pr_curves",
    "calc_reliability",
    "calc_score_thresholds",
    "calc_semantic_segmentation_confusion",
    "calc_semantic_segmentation_iou",
    "ClassificationAccumulator",
    "ClassificationResult",
    "COCOParameters",
    "COCOResult",
    "DetectionCOCOAccumulator",
    "DetectionTable",
    "DetectionVOCAccumulator",
    "ErrorTypes",
    "eval_classification",
    "eval_detection_coco",
    "eval_detection_voc",
    "eval_instance_segmentation_coco",
    "eval_instance_segmentation_voc",
    "eval_keypoint_coco",
    "eval_panoptic_segmentation",
    "eval_semantic_segmentation",
    "evaluate_coco",
    "evaluate_lvis",
    "InstanceSegmentationCOCOAccumulator",
    "InstanceSegmentationVOCAccumulator",
    "KeypointCOCOAccumulator",
    "PanopticAccumulator",
    "PanopticResult",
    "PRCurve",
    "Reliability",
    "ScoreThresholds",
    "SemanticSegmentationAccumulator",
    "SemanticSegmentationResult",
    "VOCResult",
]
