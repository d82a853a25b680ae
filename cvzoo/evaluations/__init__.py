"""Metrics as functions of arrays, as accumulators that stream and merge, and as evaluators of a model."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.evaluations.analysis.analyze_classes import analyze_classes
    from cvzoo.evaluations.analysis.analyze_detections import analyze_detections
    from cvzoo.evaluations.analysis.detection_confusion import calc_detection_confusion
    from cvzoo.evaluations.analysis.detection_table import DetectionTable
    from cvzoo.evaluations.analysis.error_types import ErrorTypes, calc_error_types
    from cvzoo.evaluations.analysis.pr_curves import PRCurve, calc_pr_curves
    from cvzoo.evaluations.analysis.reliability import Reliability, calc_reliability
    from cvzoo.evaluations.analysis.score_thresholds import ScoreThresholds, calc_score_thresholds
    from cvzoo.evaluations.classification.accumulator import ClassificationAccumulator
    from cvzoo.evaluations.classification.eval_calibration import eval_calibration
    from cvzoo.evaluations.classification.eval_classification import eval_classification
    from cvzoo.evaluations.classification.result import ClassificationResult
    from cvzoo.evaluations.classification.roc import ROCCurve, calc_roc
    from cvzoo.evaluations.coco.evaluate import evaluate_coco
    from cvzoo.evaluations.coco.lvis import evaluate_lvis
    from cvzoo.evaluations.coco.parameters import COCOParameters
    from cvzoo.evaluations.coco.result import COCOResult
    from cvzoo.evaluations.comparison.average_precision import WeightedAveragePrecision
    from cvzoo.evaluations.comparison.bootstrap import Comparison, ScoreInterval, compare_scores
    from cvzoo.evaluations.comparison.ratios import WeightedAccuracy, WeightedIoU, WeightedPanopticQuality
    from cvzoo.evaluations.eval_detection_coco import DetectionCOCOAccumulator, eval_detection_coco
    from cvzoo.evaluations.eval_instance_segmentation_coco import (
        InstanceSegmentationCOCOAccumulator,
        eval_instance_segmentation_coco,
    )
    from cvzoo.evaluations.eval_keypoint_coco import KeypointCOCOAccumulator, eval_keypoint_coco
    from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
    from cvzoo.evaluations.evaluators.classification_evaluator import ClassificationEvaluator
    from cvzoo.evaluations.evaluators.detection_coco_evaluator import DetectionCOCOEvaluator
    from cvzoo.evaluations.evaluators.detection_voc_evaluator import DetectionVOCEvaluator
    from cvzoo.evaluations.evaluators.instance_segmentation_coco_evaluator import InstanceSegmentationCOCOEvaluator
    from cvzoo.evaluations.evaluators.instance_segmentation_voc_evaluator import InstanceSegmentationVOCEvaluator
    from cvzoo.evaluations.evaluators.keypoint_coco_evaluator import KeypointCOCOEvaluator
    from cvzoo.evaluations.evaluators.panoptic_segmentation_evaluator import PanopticSegmentationEvaluator
    from cvzoo.evaluations.evaluators.semantic_segmentation_evaluator import SemanticSegmentationEvaluator
    from cvzoo.evaluations.explain.explain_coco import explain_coco
    from cvzoo.evaluations.explain.explain_voc import explain_voc
    from cvzoo.evaluations.explain.explanation import Explanation
    from cvzoo.evaluations.explain.voc_rules import VOCCase
    from cvzoo.evaluations.label_maps.accumulator import SemanticSegmentationAccumulator
    from cvzoo.evaluations.label_maps.confusion import calc_semantic_segmentation_confusion
    from cvzoo.evaluations.label_maps.eval_semantic_segmentation import eval_semantic_segmentation
    from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult, calc_semantic_segmentation_iou
    from cvzoo.evaluations.panoptic.accumulator import PanopticAccumulator
    from cvzoo.evaluations.panoptic.eval_panoptic_segmentation import eval_panoptic_segmentation
    from cvzoo.evaluations.panoptic.read_coco_panoptic import COCOPanoptic, read_coco_panoptic
    from cvzoo.evaluations.panoptic.result import PanopticResult
    from cvzoo.evaluations.results.box_records import BoxRecords
    from cvzoo.evaluations.results.class_results import ClassRecords, read_class_results
    from cvzoo.evaluations.results.csv_results import read_csv_results
    from cvzoo.evaluations.results.voc_results import read_voc_results
    from cvzoo.evaluations.voc.accumulators import DetectionVOCAccumulator, InstanceSegmentationVOCAccumulator
    from cvzoo.evaluations.voc.average_precision import calc_detection_voc_ap
    from cvzoo.evaluations.voc.eval_detection_voc import calc_detection_voc_prec_rec, eval_detection_voc
    from cvzoo.evaluations.voc.eval_instance_segmentation_voc import (
        calc_instance_segmentation_voc_prec_rec,
        eval_instance_segmentation_voc,
    )
    from cvzoo.evaluations.voc.result import VOCResult

__all__ = [
    "AbstractEvaluator",
    "analyze_classes",
    "analyze_detections",
    "BoxRecords",
    "calc_detection_confusion",
    "calc_detection_voc_ap",
    "calc_detection_voc_prec_rec",
    "calc_error_types",
    "calc_instance_segmentation_voc_prec_rec",
    "calc_pr_curves",
    "calc_reliability",
    "calc_roc",
    "calc_score_thresholds",
    "calc_semantic_segmentation_confusion",
    "calc_semantic_segmentation_iou",
    "ClassificationAccumulator",
    "ClassificationEvaluator",
    "ClassificationResult",
    "ClassRecords",
    "COCOPanoptic",
    "COCOParameters",
    "COCOResult",
    "compare_scores",
    "Comparison",
    "DetectionCOCOAccumulator",
    "DetectionCOCOEvaluator",
    "DetectionTable",
    "DetectionVOCAccumulator",
    "DetectionVOCEvaluator",
    "ErrorTypes",
    "eval_calibration",
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
    "explain_coco",
    "explain_voc",
    "Explanation",
    "InstanceSegmentationCOCOAccumulator",
    "InstanceSegmentationCOCOEvaluator",
    "InstanceSegmentationVOCAccumulator",
    "InstanceSegmentationVOCEvaluator",
    "KeypointCOCOAccumulator",
    "KeypointCOCOEvaluator",
    "PanopticAccumulator",
    "PanopticResult",
    "PanopticSegmentationEvaluator",
    "PRCurve",
    "read_class_results",
    "read_coco_panoptic",
    "read_csv_results",
    "read_voc_results",
    "Reliability",
    "ROCCurve",
    "ScoreInterval",
    "ScoreThresholds",
    "SemanticSegmentationAccumulator",
    "SemanticSegmentationEvaluator",
    "SemanticSegmentationResult",
    "VOCCase",
    "VOCResult",
    "WeightedAccuracy",
    "WeightedAveragePrecision",
    "WeightedIoU",
    "WeightedPanopticQuality",
]

import_on_demand(__name__)
