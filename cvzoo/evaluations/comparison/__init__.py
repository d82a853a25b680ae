"""Comparison of two sets of predictions: bootstrap intervals of scores and of their difference."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.evaluations.comparison.average_precision import WeightedAveragePrecision
    from cvzoo.evaluations.comparison.bootstrap import Comparison, ScoreInterval, compare_scores
    from cvzoo.evaluations.comparison.ratios import WeightedAccuracy, WeightedIoU, WeightedPanopticQuality

__all__ = [
    "Comparison",
    "ScoreInterval",
    "WeightedAccuracy",
    "WeightedAveragePrecision",
    "WeightedIoU",
    "WeightedPanopticQuality",
    "compare_scores",
]

import_on_demand(__name__)
