"""VOC's mAP of a detector on the examples of an iterator."""

from collections.abc import Iterable
from typing import Any

from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator, Hook, Predicting
from cvzoo.evaluations.voc.accumulators import DetectionVOCAccumulator
from cvzoo.evaluations.voc.result import VOCResult
from cvzoo.typing.aliases import Array, LabelNames


class DetectionVOCEvaluator(AbstractEvaluator):
    """VOC's average precision: keys `main/map` and, with names, `main/ap/<name>`; NaN for a class without objects.

    iterator: examples (img, bbox, label) or (img, bbox, label, difficult)
    target: `predict(imgs)` gives bboxes, labels, scores
    use_07_metric, iou_thresh, plus: as for `eval_detection_voc`
    label_names, hook: as for AbstractEvaluator

    >>> dataset = VOCBboxDataset(year="2007", split="test", use_difficult=True, return_difficult=True)
    >>> it = SerialIterator(dataset, batch_size=2, repeat=False, shuffle=False)
    >>> result = DetectionVOCEvaluator(it, model, use_07_metric=True, label_names=voc_bbox_label_names)()

    VOC's published scores need the difficult objects, marked as such, as above: without them, their detections count as
    false positives.
    """

    def __init__(
        self,
        iterator: Iterable[list[Any]],
        target: Predicting,
        use_07_metric: bool = False,
        label_names: LabelNames | None = None,
        *,
        iou_thresh: float = 0.5,
        plus: int = 1,
        hook: Hook | None = None,
    ) -> None:
        super().__init__(iterator, target, label_names=label_names, hook=hook)
        self.use_07_metric = use_07_metric
        self.iou_thresh = iou_thresh
        self.plus = plus

    @property
    def example(self) -> tuple[str, ...]:
        return "img", "bbox", "label", "[difficult]"

    def new_accumulator(self) -> DetectionVOCAccumulator:
        n_fg_class = None if self.label_names is None else len(self.label_names)
        return DetectionVOCAccumulator(iou_thresh=self.iou_thresh, plus=self.plus, n_fg_class=n_fg_class)

    def update(
        self, accumulator: DetectionVOCAccumulator, predicted: tuple[list[Array], ...], truths: tuple[list[Array], ...]
    ) -> None:
        accumulator.update(*predicted, *truths)

    def result_of(self, accumulator: DetectionVOCAccumulator) -> VOCResult:
        return accumulator.compute(use_07_metric=self.use_07_metric)

    def scores_of(self, result: VOCResult) -> dict[str, float]:
        return {"map": result.map} | self.by_class("ap", result.ap)
