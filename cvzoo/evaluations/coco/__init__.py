"""COCO's and LVIS' evaluation of boxes, masks and keypoints, bit for bit equal to the reference implementations."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.evaluations.coco.accumulate import accumulate
    from cvzoo.evaluations.coco.accumulator import AbstractCOCOAccumulator
    from cvzoo.evaluations.coco.detections import COCODetections
    from cvzoo.evaluations.coco.evaluate import evaluate_coco, match_coco, result_of_matches
    from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
    from cvzoo.evaluations.coco.lvis import LVIS_KEYS, LVISLabelling, LVISResult, evaluate_lvis
    from cvzoo.evaluations.coco.matches import COCOMatches, join_matches
    from cvzoo.evaluations.coco.parameters import CORRECTIONS, OKS_SIGMAS, COCOParameters
    from cvzoo.evaluations.coco.read_detections import read_coco_detections
    from cvzoo.evaluations.coco.read_ground_truth import read_coco_ground_truth
    from cvzoo.evaluations.coco.result import COCOResult
    from cvzoo.evaluations.coco.summarize import BOX_KEYS, POINT_KEYS, summarize

__all__ = [
    "AbstractCOCOAccumulator",
    "accumulate",
    "BOX_KEYS",
    "COCODetections",
    "COCOGroundTruth",
    "COCOMatches",
    "COCOParameters",
    "COCOResult",
    "CORRECTIONS",
    "evaluate_coco",
    "evaluate_lvis",
    "join_matches",
    "LVIS_KEYS",
    "LVISLabelling",
    "LVISResult",
    "match_coco",
    "OKS_SIGMAS",
    "POINT_KEYS",
    "read_coco_detections",
    "read_coco_ground_truth",
    "result_of_matches",
    "summarize",
]

import_on_demand(__name__)
