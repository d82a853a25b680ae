"""Error analysis: precision-recall curves, score thresholds, confusion matrices, error types, calibration."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.evaluations.analysis.detection_confusion import calc_detection_confusion
    from cvzoo.evaluations.analysis.detection_table import DetectionTable
    from cvzoo.evaluations.analysis.error_types import ErrorTypes, calc_error_types
    from cvzoo.evaluations.analysis.match_detections import match_detections
    from cvzoo.evaluations.analysis.pr_curves import PRCurve, calc_pr_curves
    from cvzoo.evaluations.analysis.reliability import Reliability, calc_reliability
    from cvzoo.evaluations.analysis.score_thresholds import ScoreThresholds, calc_score_thresholds

__all__ = [
    "calc_detection_confusion",
    "calc_error_types",
    "calc_pr_curves",
    "calc_reliability",
    "calc_score_thresholds",
    "DetectionTable",
    "ErrorTypes",
    "match_detections",
    "PRCurve",
    "Reliability",
    "ScoreThresholds",
]

import_on_demand(__name__)
