"""Metrics as pure functions of arrays, and as accumulators that stream and merge."""

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

__all__ = [
    "COCOParameters",
    "COCOResult",
    "DetectionCOCOAccumulator",
    "eval_detection_coco",
    "eval_instance_segmentation_coco",
    "eval_keypoint_coco",
    "evaluate_coco",
    "evaluate_lvis",
    "InstanceSegmentationCOCOAccumulator",
    "KeypointCOCOAccumulator",
]
