"""COCO's scores of a detector on the examples of an iterator."""

from collections.abc import Iterable
from typing import Any

from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.eval_detection_coco import DetectionCOCOAccumulator
from cvzoo.evaluations.evaluators.abstract import Hook, Predicting
from cvzoo.evaluations.evaluators.abstract_coco import AbstractCOCOEvaluator
from cvzoo.typing.aliases import LabelNames


class DetectionCOCOEvaluator(AbstractCOCOEvaluator):
    """COCO's average precisions and recalls of boxes: keys `main/map/iou=0.50:0.95/area=all/max_dets=100` and so on.

    iterator: examples (img, bbox, label) or (img, bbox, label, area, crowded); without areas there are no numbers for
        small, medium and large objects
    target: `predict(imgs)` gives bboxes, labels, scores
    parameters, decimals: as for `eval_detection_coco`, whose keys these are
    label_names, hook: as for AbstractEvaluator

    >>> result = DetectionCOCOEvaluator(it, model, label_names=coco_bbox_label_names)()
    """

    def __init__(
        self,
        iterator: Iterable[list[Any]],
        target: Predicting,
        label_names: LabelNames | None = None,
        *,
        parameters: COCOParameters | None = None,
        decimals: int | None = 2,
        hook: Hook | None = None,
    ) -> None:
        super().__init__(iterator, target, label_names=label_names, hook=hook)
        self.parameters = parameters
        self.decimals = decimals

    @property
    def example(self) -> tuple[str, ...]:
        return "img", "bbox", "label", "[area]", "[crowded]"

    def new_accumulator(self) -> DetectionCOCOAccumulator:
        return DetectionCOCOAccumulator(parameters=self.parameters, decimals=self.decimals)
