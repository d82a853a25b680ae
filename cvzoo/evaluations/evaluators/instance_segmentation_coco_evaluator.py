"""COCO's scores of instance masks on the examples of an iterator."""

from collections.abc import Iterable
from typing import Any

from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.eval_instance_segmentation_coco import InstanceSegmentationCOCOAccumulator
from cvzoo.evaluations.evaluators.abstract import Hook, Predicting
from cvzoo.evaluations.evaluators.abstract_coco import AbstractCOCOEvaluator
from cvzoo.typing.aliases import LabelNames


class InstanceSegmentationCOCOEvaluator(AbstractCOCOEvaluator):
    """COCO's average precisions and recalls of masks: keys `main/map/iou=0.50:0.95/area=all/max_dets=100` and so on.

    iterator: examples (img, mask, label) or (img, mask, label, area, crowded)
    target: `predict(imgs)` gives masks, labels, scores
    parameters: as for `eval_instance_segmentation_coco`; label_names, hook: as for AbstractEvaluator
    """

    def __init__(
        self,
        iterator: Iterable[list[Any]],
        target: Predicting,
        label_names: LabelNames | None = None,
        *,
        parameters: COCOParameters | None = None,
        hook: Hook | None = None,
    ) -> None:
        super().__init__(iterator, target, label_names=label_names, hook=hook)
        self.parameters = parameters

    @property
    def example(self) -> tuple[str, ...]:
        return "img", "mask", "label", "[area]", "[crowded]"

    def new_accumulator(self) -> InstanceSegmentationCOCOAccumulator:
        return InstanceSegmentationCOCOAccumulator(parameters=self.parameters)
