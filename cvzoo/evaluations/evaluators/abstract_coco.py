"""The base class of COCO's evaluators of boxes, of masks and of keypoints."""

import abc
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator


class AbstractCOCOEvaluator(AbstractEvaluator, abc.ABC):
    """Evaluators with keys `main/map/iou=0.50:0.95/area=all/max_dets=100`, and with names `main/ap/iou=.../<name>`."""

    def update(self, accumulator: Any, predicted: tuple, truths: tuple[list, ...]) -> None:
        if self.label_names is not None:
            for labels in (predicted[1], truths[self.example.index("label") - 1]):
                for label in labels:
                    if np.size(label) and np.max(label) >= len(self.label_names):
                        raise ValueRangeError(
                            "a label has no name", expected=f"0 .. {len(self.label_names) - 1}", got=int(np.max(label))
                        )
        accumulator.update(*predicted, *truths)

    def result_of(self, accumulator: Any) -> dict[str, Any]:
        return accumulator.compute()

    def scores_of(self, result: dict[str, Any]) -> dict[str, float]:
        scores = {key: value for key, value in result.items() if key.startswith(("map/", "mar/"))}
        for key, values in result.items():
            if key.startswith(("ap/", "ar/")):
                scores |= self.by_class(key, values)
        return scores
