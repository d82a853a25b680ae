"""Panoptic quality."""

from cvzoo.evaluations.panoptic.accumulator import PanopticAccumulator
from cvzoo.evaluations.panoptic.eval_panoptic_segmentation import eval_panoptic_segmentation
from cvzoo.evaluations.panoptic.result import PanopticResult

__all__ = ["eval_panoptic_segmentation", "PanopticAccumulator", "PanopticResult"]
