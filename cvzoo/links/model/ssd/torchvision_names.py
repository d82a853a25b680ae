"""torchvision's names in an SSD on VGG16, and ours; its rows of classes and offsets in our order."""

import re
from collections.abc import Callable, Mapping

import numpy as np

from cvzoo.links.model.pretrained.names import own_names
from cvzoo.links.model.retinanet.torchvision_names import COCO_ROWS

N_TORCHVISION_CLASS = 91  # with the background
_FEATURES = {
    0: "conv1_1", 2: "conv1_2", 5: "conv2_1", 7: "conv2_2", 10: "conv3_1", 12: "conv3_2", 14: "conv3_3",
    17: "conv4_1", 19: "conv4_2", 21: "conv4_3",
}  # fmt: skip
_FIRST_EXTRA = {"1": "conv5_1", "3": "conv5_2", "5": "conv5_3", "7.1": "conv6", "7.3": "conv7"}
HEADS = {"classification": "multibox/conf", "regression": "multibox/loc"}


def is_torchvision_ssd(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of torchvision's SSD on VGG16."""
    return "backbone.scale_weight" in arrays and "head.regression_head.module_list.0.weight" in arrays


def ssd_place(module: str) -> str | None:
    """Our path of a module of torchvision's SSD, None where there is none."""
    match = re.fullmatch(r"backbone\.features\.(\d+)", module)
    if match:
        name = _FEATURES.get(int(match[1]))
        return None if name is None else f"extractor/{name}"
    match = re.fullmatch(r"backbone\.extra\.0\.(\d(?:\.\d)?)", module)
    if match:
        name = _FIRST_EXTRA.get(match[1])
        return None if name is None else f"extractor/{name}"
    match = re.fullmatch(r"backbone\.extra\.([1-9])\.([02])", module)
    if match:
        return f"extractor/conv{7 + int(match[1])}_{1 + int(match[2]) // 2}"
    match = re.fullmatch(r"head\.(classification|regression)_head\.module_list\.(\d+)", module)
    return None if match is None else f"{HEADS[match[1]]}/{match[2]}"


def from_torchvision(arrays: Mapping[str, np.ndarray], *, n_fg_class: int | None) -> dict[str, np.ndarray]:
    """The arrays by our names and with our order of offsets; those that have no place here keep their names.

    n_fg_class: of the model to be, see `class_rows`
    """
    arrays = dict(arrays)
    scale = arrays.pop("backbone.scale_weight")
    named = own_names(arrays, ssd_place)
    named["extractor/norm4/scale"] = scale
    return reordered(named, lambda name: re.fullmatch(r"multibox/(loc|conf)/\d+/[Wb]", name), n_fg_class)


def reordered(
    named: Mapping[str, np.ndarray], is_last: Callable[[str], re.Match | None], n_fg_class: int | None
) -> dict[str, np.ndarray]:
    """The arrays, dx dy dw dh as dy dx dh dw, and of the classes those that are wanted.

    is_last: of the heads' last convolutions a match whose first group is "loc" or "conf"
    """
    named = dict(named)
    n_box = {}
    for name, array in named.items():
        match = is_last(name)
        if match and match[1] == "loc":
            n_box[name.replace("/loc/", "/conf/")] = len(array) // 4
            named[name] = _picked(array, 4, [1, 0, 3, 2])
    for name, n in n_box.items():
        n_class = len(named[name]) // n
        named[name] = _picked(named[name], n_class, class_rows(n_class, n_fg_class))
    return named


def class_rows(n_class: int, n_fg_class: int | None) -> np.ndarray:
    """Which of a box's n_class rows are taken: of torchvision's 91 the background and COCO's 80, unless 90 classes are
    asked for."""
    if n_class == N_TORCHVISION_CLASS and n_fg_class != N_TORCHVISION_CLASS - 1:
        return np.concatenate([[0], COCO_ROWS])
    return np.arange(n_class)


def _picked(array: np.ndarray, n: int, rows: object) -> np.ndarray:
    """(K * n, ...) as (K * len(rows), ...)."""
    return array.reshape(-1, n, *array.shape[1:])[:, rows].reshape(-1, *array.shape[1:])
