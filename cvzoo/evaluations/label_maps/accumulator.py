"""Scoring of label maps as they come."""

import numpy as np

from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.label_maps.confusion import add_confusions, calc_semantic_segmentation_confusion
from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult


class SemanticSegmentationAccumulator:
    """Streaming `eval_semantic_segmentation`; holds one confusion matrix, and any split gives the same bits.

    n_class: how many classes there are; None: as many as the highest class seen needs
    """

    def __init__(self, *, n_class=None):
        self.n_class = n_class
        self.confusion = np.zeros((n_class or 0,) * 2, np.int64)

    def update(self, pred_labels, gt_labels) -> None:
        """Count more photos; the arguments are those of `eval_semantic_segmentation`."""
        part = calc_semantic_segmentation_confusion(pred_labels, gt_labels, n_class=self.n_class)
        self.confusion = add_confusions(self.confusion, part)

    def merge(self, other) -> None:
        """Add what another accumulator has seen. Raises ConfigError if it has other settings."""
        if not isinstance(other, SemanticSegmentationAccumulator) or other.n_class != self.n_class:
            raise ConfigError("accumulators of different settings do not merge", expected=f"n_class {self.n_class}")
        self.confusion = add_confusions(self.confusion, other.confusion)

    def compute(self) -> SemanticSegmentationResult:
        """The result for all photos so far."""
        return SemanticSegmentationResult(self.confusion.copy())
