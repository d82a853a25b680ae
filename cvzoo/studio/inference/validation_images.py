"""Images of a run's validation data with their annotations, for the playground."""

from typing import Any

import numpy as np

from cvzoo.datasets.bbox_splits import bbox_splits
from cvzoo.datasets.class_splits import class_splits
from cvzoo.datasets.instance_splits import instance_splits
from cvzoo.datasets.keypoint_splits import keypoint_splits
from cvzoo.datasets.label_map_splits import label_map_splits
from cvzoo.errors.exceptions import UnsupportedError, ValueRangeError
from cvzoo.geometry.mask_to_bbox import mask_to_bbox
from cvzoo.studio.inference.predictions import runs_of
from cvzoo.typing.aliases import Array, Image

_SPLITS = {
    "classification": class_splits,
    "detection": bbox_splits,
    "instance segmentation": instance_splits,
    "keypoints": keypoint_splits,
    "segmentation": label_map_splits,
}


class ValidationImages:
    """The validation part of the data of a task, read once. task: of the model; data: the specification"""

    def __init__(self, task: str, data: str):
        if task not in _SPLITS:
            raise UnsupportedError(f"there are no data of the task {task}")
        splits: Any = _SPLITS[task](data)
        self._val, self._names, self._task = splits.val, tuple(splits.label_names), task

    def __len__(self) -> int:
        return len(self._val)

    def example(self, i: int) -> tuple[Image, dict[str, Any]]:
        """Image `i`, (3, H, W) float32, and its annotation as a prediction has it. Raises ValueRangeError."""
        if not 0 <= i < len(self):
            raise ValueRangeError("there is no such image", expected=f"0 to {len(self) - 1}", got=i)
        tree: dict[str, Any] = {"n_image": len(self), "index": i, "task": self._task}
        if self._task == "segmentation":
            img, label = self._val[i]
            return img, tree | {"runs": runs_of(np.asarray(label)), "classes": self._present(label)}
        if self._task == "classification":
            img, label = self._val[i]
            return img, tree | {"classes": [{"label": int(label), "name": self._names[int(label)], "score": None}]}
        key = "mask" if self._task == "instance segmentation" else "bbox"
        img, shapes, labels = self._val.slice[i : i + 1, ("img", key, "label")][0]
        boxes = mask_to_bbox(shapes) if key == "mask" else shapes
        return img, tree | {"objects": [self._object(bb, label) for bb, label in zip(boxes, labels)]}

    def _object(self, bb: Array, label: int) -> dict[str, Any]:
        sides = dict(zip(("y_min", "x_min", "y_max", "x_max"), map(float, bb)))
        return {"label": int(label), "name": self._names[int(label)], "score": None, **sides}

    def _present(self, label: Array) -> list[dict[str, Any]]:
        found, counts = np.unique(label[label >= 0], return_counts=True)
        order = np.argsort(-counts)
        total = max(int(counts.sum()), 1)
        return [
            {"label": int(l), "name": self._names[int(l)], "share": float(n / total)}
            for l, n in zip(found[order], counts[order])
        ]
