"""Scores of semantic segmentation on the examples of an iterator."""

from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.evaluations.label_maps.accumulator import SemanticSegmentationAccumulator
from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult
from cvzoo.typing.aliases import Array


class SemanticSegmentationEvaluator(AbstractEvaluator):
    """Evaluator of semantic segmentation.

    Keys `main/miou`, `main/pixel_accuracy`, `main/mean_class_accuracy`, `main/fwiou`; with names `main/iou/<name>`,
    `main/class_accuracy/<name>`.

    iterator: examples (img, label), label (H, W) int32, -1 for ignored pixels
    target: `predict(imgs)` gives labels; label_names, hook: as for AbstractEvaluator
    """

    @property
    def example(self) -> tuple[str, ...]:
        return "img", "label"

    def new_accumulator(self) -> SemanticSegmentationAccumulator:
        return SemanticSegmentationAccumulator(n_class=None if self.label_names is None else len(self.label_names))

    def update(
        self,
        accumulator: SemanticSegmentationAccumulator,
        predicted: tuple[list[Array], ...],
        truths: tuple[list[Array], ...],
    ) -> None:
        accumulator.update(predicted[0], truths[0])

    def result_of(self, accumulator: SemanticSegmentationAccumulator) -> SemanticSegmentationResult:
        return accumulator.compute()

    def scores_of(self, result: SemanticSegmentationResult) -> dict[str, float]:
        return {
            "miou": result.miou,
            "pixel_accuracy": result.pixel_accuracy,
            "mean_class_accuracy": result.mean_class_accuracy,
            "fwiou": result.fwiou,
            **self.by_class("iou", result.iou),
            **self.by_class("class_accuracy", result.class_accuracy),
        }
