"""Panoptic quality."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.evaluations.panoptic.accumulator import PanopticAccumulator
    from cvzoo.evaluations.panoptic.eval_panoptic_segmentation import eval_panoptic_segmentation
    from cvzoo.evaluations.panoptic.result import PanopticResult

__all__ = ["eval_panoptic_segmentation", "PanopticAccumulator", "PanopticResult"]

import_on_demand(__name__)
