"""COCO's scores of keypoints on the examples of an iterator."""

from collections.abc import Iterable
from typing import Any

from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.eval_keypoint_coco import KeypointCOCOAccumulator
from cvzoo.evaluations.evaluators.abstract import Hook, Predicting
from cvzoo.evaluations.evaluators.abstract_coco import AbstractCOCOEvaluator
from cvzoo.typing.aliases import LabelNames


class KeypointCOCOEvaluator(AbstractCOCOEvaluator):
    """COCO's average precisions and recalls of keypoints: keys `main/map/iou=0.50:0.95/area=all/max_dets=20` and so on.

    iterator: examples (img, point, visible, bbox, label, area) or (img, point, visible, bbox, label, area, crowded)
    target: `predict(imgs)` gives points, labels, scores
    parameters, decimals: as for `eval_keypoint_coco`, whose keys these are
    label_names, hook: as for AbstractEvaluator
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
        return "img", "point", "visible", "bbox", "label", "area", "[crowded]"

    def new_accumulator(self) -> KeypointCOCOAccumulator:
        return KeypointCOCOAccumulator(parameters=self.parameters, decimals=self.decimals)
