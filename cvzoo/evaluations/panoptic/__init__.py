"""Panoptic quality, the metric of panoptic segmentation."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.evaluations.panoptic.accumulator import PanopticAccumulator
    from cvzoo.evaluations.panoptic.eval_panoptic_segmentation import eval_panoptic_segmentation
    from cvzoo.evaluations.panoptic.read_coco_panoptic import COCOPanoptic, PanopticAnnotation, read_coco_panoptic
    from cvzoo.evaluations.panoptic.result import PanopticResult

__all__ = [
    "COCOPanoptic",
    "eval_panoptic_segmentation",
    "PanopticAccumulator",
    "PanopticAnnotation",
    "PanopticResult",
    "read_coco_panoptic",
]

import_on_demand(__name__)
