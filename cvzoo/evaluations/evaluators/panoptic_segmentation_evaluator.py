"""Panoptic quality on the examples of an iterator."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator, Hook, Predicting
from cvzoo.evaluations.panoptic.accumulator import PanopticAccumulator
from cvzoo.evaluations.panoptic.result import PanopticResult


class PanopticSegmentationEvaluator(AbstractEvaluator):
    """Evaluator of panoptic quality: keys `main/pq`, `main/sq`, `main/rq`, also with `/things`, `/stuff`, `/<name>`.

    iterator: examples (img, map, segments); target: `predict(imgs)` gives (maps, segments), lists with one element per
        image; both as `eval_panoptic_segmentation` takes them
    categories: list of {'id', 'isthing', 'name'}; hook: as for AbstractEvaluator
    """

    def __init__(
        self,
        iterator: Iterable[list],
        target: Predicting,
        *,
        categories: Sequence[Mapping[str, Any]],
        hook: Hook | None = None,
    ) -> None:
        super().__init__(iterator, target, hook=hook)
        self.categories = list(categories)

    @property
    def example(self) -> tuple[str, ...]:
        return "img", "map", "segments"

    def new_accumulator(self) -> PanopticAccumulator:
        return PanopticAccumulator(self.categories)

    def update(self, accumulator: PanopticAccumulator, predicted: tuple, truths: tuple[list, ...]) -> None:
        accumulator.update(*predicted, *truths)

    def result_of(self, accumulator: PanopticAccumulator) -> PanopticResult:
        return accumulator.compute()

    def scores_of(self, result: PanopticResult) -> Mapping[str, float]:
        return result.to_dict()
