"""Streaming metrics of semantic segmentation."""

from collections.abc import Iterable

import numpy as np

from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.label_maps.confusion import add_confusions, calc_semantic_segmentation_confusion
from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult
from cvzoo.typing.aliases import ArrayLike


class SemanticSegmentationAccumulator:
    """Streaming `eval_semantic_segmentation`; its state is one confusion matrix, and any split gives the same bits.

    n_class: number of classes; None: up to the highest label
    """

    def __init__(self, *, n_class: int | None = None) -> None:
        self.n_class = n_class
        self.confusion = np.zeros((n_class or 0,) * 2, np.int64)

    def update(self, pred_labels: Iterable[ArrayLike], gt_labels: Iterable[ArrayLike]) -> None:
        """Adds images; the arguments are those of `eval_semantic_segmentation`."""
        part = calc_semantic_segmentation_confusion(pred_labels, gt_labels, n_class=self.n_class)
        self.confusion = add_confusions(self.confusion, part)

    def merge(self, other: "SemanticSegmentationAccumulator") -> None:
        """Adds the images of another accumulator. Raises ConfigError if its settings differ."""
        if not isinstance(other, SemanticSegmentationAccumulator) or other.n_class != self.n_class:
            raise ConfigError("accumulators of different settings cannot be merged", expected=f"n_class {self.n_class}")
        self.confusion = add_confusions(self.confusion, other.confusion)

    def compute(self) -> SemanticSegmentationResult:
        """The result for all images so far."""
        return SemanticSegmentationResult(self.confusion.copy())
