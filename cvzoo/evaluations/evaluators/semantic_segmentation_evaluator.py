"""Scores of label maps on the examples of an iterator."""

from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.evaluations.label_maps.accumulator import SemanticSegmentationAccumulator


class SemanticSegmentationEvaluator(AbstractEvaluator):
    """Keys `main/miou`, `main/pixel_accuracy`, `main/mean_class_accuracy`, `main/fwiou`; with names `main/iou/<name>`,
    `main/class_accuracy/<name>`.

    iterator: examples (img, label), label (H, W) int32, -1 where nobody knows
    target: `predict(imgs)` gives labels; label_names, hook: as for AbstractEvaluator
    """

    @property
    def example(self):
        return "img", "label"

    def new_accumulator(self):
        return SemanticSegmentationAccumulator(n_class=None if self.label_names is None else len(self.label_names))

    def update(self, accumulator, predicted, truths):
        accumulator.update(predicted[0], truths[0])

    def result_of(self, accumulator):
        return accumulator.compute()

    def scores_of(self, result):
        return {
            "miou": result.miou,
            "pixel_accuracy": result.pixel_accuracy,
            "mean_class_accuracy": result.mean_class_accuracy,
            "fwiou": result.fwiou,
            **self.by_class("iou", result.iou),
            **self.by_class("class_accuracy", result.class_accuracy),
        }
