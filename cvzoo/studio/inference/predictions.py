"""What a model says of an image, as JSON for the playground."""

from typing import Any

import numpy as np

from cvzoo.links.chain import Chain
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter
from cvzoo.links.model.keypoint_detector import AbstractKeypointDetector
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.links.model.thresholds import AbstractThresholds, ClassPreset
from cvzoo.typing.aliases import Array, Image

TASKS: dict[str, type[Chain]] = {
    "classification": AbstractClassifier,
    "keypoints": AbstractKeypointDetector,
    "instance segmentation": AbstractInstanceSegmenter,
    "detection": AbstractDetector,
    "segmentation": AbstractSegmenter,
}
_LEAST_SCORE = 0.05  # the page's slider filters above it
_LIMIT = 300  # objects per image
_N_CLASS = 20  # of a classifier, the most probable ones


def task_of(model: object) -> str | None:
    """The task of the model, None if its predictions cannot be shown."""
    return next((task for task, of_task in TASKS.items() if isinstance(model, of_task)), None)


def facts_of(model: Any) -> dict[str, Any]:
    """What the page needs to know: task, label_names, n_parameter, thresholds with those of classes by preset."""
    parameters = [param.array for param in model.params(include_uninit=False)]
    facts: dict[str, Any] = {
        "task": task_of(model),
        "class": type(model).__name__,
        "label_names": getattr(model, "label_names", None),
        "n_parameter": sum(array.size for array in parameters),
        "thresholds": None,
    }
    if isinstance(model, AbstractThresholds):
        presets = {
            name: {
                "nms": float(preset.nms_thresh),
                "score": float(preset.score_thresh),
                "classes": list(map(float, preset.class_score_thresh)) if isinstance(preset, ClassPreset) else None,
            }
            for name, preset in model.presets.items()
        }
        facts["thresholds"] = {"nms": float(model.nms_thresh), "score": float(model.score_thresh), "presets": presets}
    return facts


def predicted(model: Any, img: Image, nms_thresh: float | None) -> dict[str, Any]:
    """The prediction: `classes`, `objects` from a score of 0.05 on, or `runs` and `classes` of a label map.

    img: (3, H, W) float32 RGB in [0, 255]; nms_thresh: None for the model's
    """
    task, predict = task_of(model), model.predict
    if isinstance(model, AbstractThresholds):
        before = model.nms_thresh, model.score_thresh, model.class_score_thresh, model.limit
        model.nms_thresh = model.nms_thresh if nms_thresh is None else nms_thresh
        model.score_thresh, model.class_score_thresh, model.limit = _LEAST_SCORE, None, _LIMIT
        try:
            return {"task": task, "objects": _objects(predict([img]))}
        finally:
            model.nms_thresh, model.score_thresh, model.class_score_thresh, model.limit = before
    result = predict([img])
    if task == "classification":
        return {"task": task, "classes": _classes(result.probs[0], result.label_names)}
    rows = [{key: value for key, value in each.items() if key != "photo"} for each in result.to_records(0)]
    return {"task": task, "classes": rows, "runs": runs_of(np.asarray(result[0]))}


def runs_of(label: Array) -> list[int]:
    """A label map (H, W) row by row as label, length, label, length ..."""
    flat = label.ravel()
    starts = np.flatnonzero(np.append(True, flat[1:] != flat[:-1]))
    lengths = np.diff(np.append(starts, len(flat)))
    runs: list[int] = np.stack((flat[starts], lengths), axis=1).ravel().tolist()
    return runs


def _classes(probs: Array, names: tuple[str, ...] | None) -> list[dict[str, Any]]:
    order = np.argsort(-probs, kind="stable")[:_N_CLASS].tolist()
    return [{"label": l, "name": _name(l, names), "score": float(probs[l])} for l in order]


def _objects(result: Any) -> list[dict[str, Any]]:
    masks, points = result.masks_of(0), result.points_of(0)
    found = []
    for i, (bb, label, score) in enumerate(
        zip(result.bboxes[0].tolist(), result.labels[0].tolist(), result.scores[0].tolist())
    ):
        row = {"label": label, "name": _name(label, result.label_names), "score": score}
        row |= dict(zip(("y_min", "x_min", "y_max", "x_max"), bb))
        if masks is not None:
            row["mask"] = masks.counts[masks.offsets[i] : masks.offsets[i + 1]].tolist()
        if points is not None:
            row["points"] = np.asarray(points[i]).round(2).tolist()
        found.append(row)
    return found


def _name(label: int, names: tuple[str, ...] | None) -> str:
    return str(label) if names is None or label >= len(names) else names[label]
