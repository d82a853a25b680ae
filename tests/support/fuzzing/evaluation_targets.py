"""Evaluators, given arrays of odd shapes, dtypes, orders and values."""

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from cvzoo.evaluations.classification.eval_classification import eval_classification
from cvzoo.evaluations.eval_detection_coco import eval_detection_coco
from cvzoo.evaluations.eval_instance_segmentation_coco import eval_instance_segmentation_coco
from cvzoo.evaluations.eval_keypoint_coco import eval_keypoint_coco
from cvzoo.evaluations.label_maps.eval_semantic_segmentation import eval_semantic_segmentation
from cvzoo.evaluations.panoptic.eval_panoptic_segmentation import eval_panoptic_segmentation
from cvzoo.evaluations.voc.eval_detection_voc import eval_detection_voc
from cvzoo.evaluations.voc.eval_instance_segmentation_voc import eval_instance_segmentation_voc
from fuzzing.byte_mutations import cut, flip_bits, set_bytes
from fuzzing.choices import Choices, random_choices
from fuzzing.target import Target

_SIZES = (0, 1, 1, 2, 3, 5)
_ODD = (np.nan, np.inf, -np.inf, -1, 0, 1e38, -1e38, 2**31, 2**40, 0.5)
_DTYPES = ("f4", "f8", "i4", "i8", "u1", "?", "f2", ">f4", "U3", "O", "c8", "u8")


def _odd(choices: Choices, array: np.ndarray) -> Any:
    """The array; once in a while with an odd number, shape, dtype or order, or something else in its place."""
    deed = choices.below(40)
    if deed == 1 and array.size:
        array = array.astype("f8")
        array.flat[choices.below(array.size)] = choices.one_of(_ODD)
    elif deed == 2:
        array = array.reshape(-1)
    elif deed == 3:
        array = array[None]
    elif deed == 4:
        array = array[: len(array) // 2] if array.ndim else array
    elif deed == 5:
        with np.errstate(all="ignore"):
            array = array.astype(choices.one_of(_DTYPES))
    elif deed == 6:
        array = np.asfortranarray(array)
    elif deed == 7:
        array = array[::-1] if array.ndim else array
    elif deed == 8:
        return choices.one_of((None, [], 3, "text", array.tolist(), object(), np.array(3)))
    return array


def _boxes(choices: Choices, n: int) -> np.ndarray:
    corners = choices.generator().uniform(0, 60, (n, 2, 2)).astype("f4")
    return np.sort(corners, axis=1).reshape(n, 4)


def _labels(choices: Choices, n: int) -> np.ndarray:
    return choices.generator().integers(0, 4, n).astype("i4")


def _scores(choices: Choices, n: int) -> np.ndarray:
    return choices.generator().choice([0.1, 0.5, 0.5, 0.9], n).astype("f4")


def _masks(choices: Choices, n: int) -> np.ndarray:
    return choices.generator().random((n, 6, 7)) < 0.5


def _points(choices: Choices, n: int) -> np.ndarray:
    return choices.generator().uniform(0, 60, (n, 17, 2)).astype("f4")


def _flags(choices: Choices, n: int) -> np.ndarray:
    return choices.generator().random(n) < 0.3


def _areas(choices: Choices, n: int) -> np.ndarray:
    return choices.generator().uniform(0, 20_000, n).astype("f4")


def _visibles(choices: Choices, n: int) -> np.ndarray:
    return choices.generator().random((n, 17)) < 0.7


def _lists(choices: Choices, *groups: tuple[Callable, ...]) -> list[list]:
    """For each maker of each group, a list with an array a photo; the makers of a group agree in length."""
    n_photo = choices.one_of(_SIZES)
    found: list[list] = [[] for group in groups for _ in group]
    for _ in range(n_photo):
        columns = iter(found)
        for group in groups:
            n = choices.one_of(_SIZES)
            for make in group:
                next(columns).append(_odd(choices, make(choices, n)))
    if choices.yes(30) and found[0]:
        found[choices.below(len(found))].pop()
    return found


def _detection(choices: Choices) -> None:
    columns = _lists(choices, (_boxes, _labels, _scores), (_boxes, _labels, _flags))
    if choices.yes():
        eval_detection_voc(*columns, use_07_metric=choices.yes(), iou_thresh=choices.one_of((0.5, 0.0, 1.0)))
    else:
        *rest, crowded = columns
        eval_detection_coco(*rest, None, crowded if choices.yes() else None)


def _instances(choices: Choices) -> None:
    columns = _lists(choices, (_masks, _labels, _scores), (_masks, _labels))
    (eval_instance_segmentation_voc if choices.yes() else eval_instance_segmentation_coco)(*columns)


def _key_points(choices: Choices) -> None:
    groups = (_points, _labels, _scores), (_points, _visibles, _boxes, _labels, _areas)
    eval_keypoint_coco(*_lists(choices, *groups))


def _label_maps(choices: Choices) -> None:
    def label_map(choices: Choices, n: int) -> np.ndarray:
        return choices.generator().integers(-1, 5, (n, 4)).astype("i4")

    predicted, true = _lists(choices, (label_map, label_map))
    eval_semantic_segmentation(predicted, true, n_class=choices.one_of((None, 1, 5, 0, 300)))


def _classes(choices: Choices) -> None:
    n = choices.one_of(_SIZES)
    probs = choices.generator().random((n, choices.one_of((1, 2, 5, 7)))).astype("f4")
    eval_classification([_odd(choices, probs)], [_odd(choices, _labels(choices, n))])


def _panoptic(choices: Choices) -> None:
    def segments(ids: np.ndarray) -> list[dict]:
        found = [
            {"id": int(i), "category_id": choices.below(3), "iscrowd": choices.below(2)} for i in np.unique(ids) if i
        ]
        if choices.yes(20) and found:
            found[0][choices.one_of(("id", "category_id", "area"))] = choices.one_of((None, -1, "x", 2**70, 1.5))
        return found

    maps = [choices.generator().integers(0, 4, (5, 6)) for _ in range(2)]
    names = [{"id": i, "isthing": i % 2, "name": str(i)} for i in range(3)]
    pred, gt = ([_odd(choices, each)] for each in maps)
    eval_panoptic_segmentation(pred, [segments(maps[0])], gt, [segments(maps[1])], categories=names)


_DEEDS = {
    "detection": _detection,
    "instances": _instances,
    "key-points": _key_points,
    "label-maps": _label_maps,
    "classes": _classes,
    "panoptic": _panoptic,
}


def _run(deed: Callable[[Choices], None]) -> Callable[[pathlib.Path, bytes], None]:
    return lambda folder, data: deed(Choices(data))


TARGETS = tuple(
    Target(
        name=f"evaluate-{name}",
        seeds=lambda: random_choices(400),
        run=_run(deed),
        mutations=(flip_bits, set_bytes, set_bytes, cut),
    )
    for name, deed in _DEEDS.items()
)
