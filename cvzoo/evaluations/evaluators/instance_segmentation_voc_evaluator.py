"""VOC's mAP of instance masks on the examples of an iterator."""

from collections.abc import Iterable
from typing import Any

from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator, Hook, Predicting
from cvzoo.evaluations.voc.accumulators import InstanceSegmentationVOCAccumulator
from cvzoo.evaluations.voc.result import VOCResult
from cvzoo.typing.aliases import LabelNames


class InstanceSegmentationVOCEvaluator(AbstractEvaluator):
    """VOC's average precision of masks: keys `main/map` and, with names, `main/ap/<name>`.

    iterator: examples (img, mask, label); target: `predict(imgs)` gives masks, labels, scores
    iou_thresh, use_07_metric: as for `eval_instance_segmentation_voc`; label_names, hook: as for AbstractEvaluator
    """

    def __init__(
        self,
        iterator: Iterable[list[Any]],
        target: Predicting,
        iou_thresh: float = 0.5,
        use_07_metric: bool = False,
        label_names: LabelNames | None = None,
        *,
        hook: Hook | None = None,
    ) -> None:
        super().__init__(iterator, target, label_names=label_names, hook=hook)
        self.iou_thresh = iou_thresh
        self.use_07_metric = use_07_metric

    @property
    def example(self) -> tuple[str, ...]:
        return "img", "mask", "label"

    def new_accumulator(self) -> InstanceSegmentationVOCAccumulator:
        n_fg_class = None if self.label_names is None else len(self.label_names)
        return InstanceSegmentationVOCAccumulator(iou_thresh=self.iou_thresh, n_fg_class=n_fg_class)

    def update(
        self, accumulator: InstanceSegmentationVOCAccumulator, predicted: tuple, truths: tuple[list, ...]
    ) -> None:
        accumulator.update(*predicted, *truths)

    def result_of(self, accumulator: InstanceSegmentationVOCAccumulator) -> VOCResult:
        return accumulator.compute(use_07_metric=self.use_07_metric)

    def scores_of(self, result: VOCResult) -> dict[str, float]:
        return {"map": result.map} | self.by_class("ap", result.ap)
