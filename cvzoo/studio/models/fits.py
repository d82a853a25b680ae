"""What a model cannot be asked for, known before a job is queued: its task, the format or the data do not fit."""

import os

from cvzoo.studio.jobs.evaluation_helper import unrecognized
from cvzoo.studio.jobs.recipe_helper import tasks_of_architectures
from cvzoo.studio.jobs.spec import Form, PredictionForm
from cvzoo.studio.models.found import Model, header_of
from cvzoo.weights.model_header import ModelHeader

_CLASSES, _MAPS, _OBJECTS = "classes of whole images", "label maps", "objects with boxes"
_OF_TASK = {
    "classification": _CLASSES,
    "segmentation": _MAPS,
    **dict.fromkeys(("detection", "instance segmentation", "keypoints"), _OBJECTS),
}
_OF_DATA = {
    **dict.fromkeys(("cifar10", "cifar100", "mnist"), _CLASSES),
    **dict.fromkeys(("ade20k", "camvid", "cityscapes", "labels"), _MAPS),
    **dict.fromkeys(("coco", "labelme", "lvis", "sroie", "voc", "yolo"), _OBJECTS),
}
_QUANTIZED = "cvzoo_quantization"  # the name of the header's text in a file of an int8 model


def task_of_model(model: Model) -> str | None:
    """The task: "classification", "detection" ...; None if it is not known, as of a network of the user's own."""
    if model.member is not None:
        return str(model.member["task"])
    header = None if model.path is None else header_of(model.path)
    return tasks_of_architectures().get(header.architecture) if isinstance(header, ModelHeader) else None


def why_no_predictions(model: Model, form: PredictionForm) -> str | None:
    """Why predictions cannot be saved in the format; None if they can, or the task is not known."""
    found = None if form == "jsonl" else _OF_TASK.get(task_of_model(model) or "")
    if form == "coco" and found == _CLASSES:
        return f"COCO's annotations are of {_OBJECTS}, and this model predicts {found}: choose CSV or JSON lines"
    if form == "csv" and found == _MAPS:
        return f"CSV cannot hold {found}: choose COCO or JSON lines"
    return None


def why_no_proposals(model: Model, task: str) -> str | None:
    """Why the model proposes nothing for a data set. task: its, "boxes" or "classes" """
    found, wanted = _OF_TASK.get(task_of_model(model) or ""), _OBJECTS if task == "boxes" else _CLASSES
    if found == wanted:
        return None
    return f"the data set has {wanted}, and this model predicts {found or 'what is not known'}"


def why_no_export(model: Model, form: Form) -> str | None:
    """Why the model cannot be exported so; None if nothing is known against it."""
    header = None if model.path is None else header_of(model.path)
    if not isinstance(header, ModelHeader) or _QUANTIZED not in header.metadata:
        return None
    if form == "int8":
        return "the model is quantized already: quantize the model that it was made of"
    return "a quantized model is not exported to ONNX: export the model that it was made of"


def why_no_evaluation(model: Model, data: str, split: str, *, find_thresholds: bool) -> dict[str, str]:
    """What is wrong with an evaluation, by field; empty if nothing is known against it. data, split: as of EvaluateSpec

    The layout is recognized by another process, if the path is absolute or no layout is named.
    Raises ConfigError if that process fails.
    """
    kind, root = _kind_and_root(data)
    if os.path.isabs(root) and not os.path.exists(root):
        return {"data": f"{root[:200]} does not exist"}
    predicted, annotated = _OF_TASK.get(task_of_model(model) or ""), _annotated(kind, root)
    wrong = {}
    if predicted is not None and annotated is not None and predicted != annotated:
        wrong["data"] = f"the data have {annotated}, and this model predicts {predicted}"
    if find_thresholds and predicted not in (None, _OBJECTS):
        wrong["find_thresholds"] = f"thresholds are those of detectors, and this model predicts {predicted}"
    if not wrong and (os.path.isabs(root) or ":" not in data):
        return unrecognized(data, split)
    return wrong


def _annotated(kind: str, root: str) -> str | None:
    if kind == "folder" and root:
        # as `datasets.is_label_map_folder`, whose file imports Pillow, which the server does not
        has_maps = os.path.isfile(os.path.join(root, "classes.txt")) and os.path.isdir(os.path.join(root, "labels"))
        return _MAPS if has_maps else _CLASSES
    return _OF_DATA.get(kind)


def _kind_and_root(data: str) -> tuple[str, str]:
    kind, _, rest = data.partition(":")
    return kind, rest.partition(",")[0]
