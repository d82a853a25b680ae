"""Metrics of image classification."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.evaluations.classification.accumulator import ClassificationAccumulator
    from cvzoo.evaluations.classification.eval_calibration import eval_calibration
    from cvzoo.evaluations.classification.eval_classification import eval_classification
    from cvzoo.evaluations.classification.rank_of_label import rank_of_label
    from cvzoo.evaluations.classification.result import ClassificationResult
    from cvzoo.evaluations.classification.roc import ROCCurve, calc_roc

__all__ = [
    "ClassificationAccumulator",
    "ClassificationResult",
    "ROCCurve",
    "calc_roc",
    "eval_calibration",
    "eval_classification",
    "rank_of_label",
]

import_on_demand(__name__)
