"""torchvision's names in a RetinaNet, and ours; its rows of classes and offsets in our order."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.labels.coco_categories import unused_coco_categories
from cvzoo.links.model.pretrained.names import own_names
from cvzoo.links.model.resnet.names import resnet_place

_HEAD = r"head\.(classification|regression)_head\."
_OURS = {"classification": "conf_head", "regression": "loc_head"}
_PLACES = (
    (r"backbone\.fpn\.inner_blocks\.(\d+)(?:\.0)?", r"fpn/inner/\1"),
    (r"backbone\.fpn\.layer_blocks\.(\d+)(?:\.0)?", r"fpn/outer/\1"),
    (r"backbone\.fpn\.extra_blocks\.p6", r"fpn/extra/0"),
    (r"backbone\.fpn\.extra_blocks\.p7", r"fpn/extra/1"),
)
N_TORCHVISION_CLASS = 91
# each row is of COCO's category of that number: row 0 and those of categories that COCO gave up were never trained
COCO_ROWS = np.array([i for i in range(1, N_TORCHVISION_CLASS) if i not in unused_coco_categories])


def is_torchvision_retinanet(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of torchvision's RetinaNet."""
    return "head.classification_head.cls_logits.weight" in arrays and "backbone.body.conv1.weight" in arrays


def retinanet_place(module: str, old_heads: bool) -> str | None:
    """Our path of a module of torchvision's RetinaNet, None where there is none.

    old_heads: the file is of torchvision 0.12 or before, which counts relus as well: convolutions are 0, 2, 4 and 6
    """
    if module.startswith("backbone.body."):
        return resnet_place(module.removeprefix("backbone.body."))
    for pattern, place in _PLACES:
        match = re.fullmatch(pattern, module)
        if match:
            return match.expand(place)
    match = re.fullmatch(_HEAD + r"(cls_logits|bbox_reg)", module)
    if match:
        return f"{_OURS[match[1]]}/out"
    match = re.fullmatch(_HEAD + r"conv\.(\d+)(?:\.([01]))?", module)
    if match is None:
        return None
    number = int(match[2]) // 2 if old_heads else int(match[2])
    return f"{_OURS[match[1]]}/{'norms' if match[3] == '1' else 'convs'}/{number}"


def from_torchvision(
    arrays: Mapping[str, np.ndarray], *, n_anchor: int, n_fg_class: int | None
) -> dict[str, np.ndarray]:
    """The arrays by our names and with our order of offsets; those that have no place here keep their names.

    n_anchor: anchors of a place
    n_fg_class: of the model to be, see `sigmoid_rows`
    """
    old_heads = "head.classification_head.conv.0.weight" in arrays
    named = own_names(arrays, lambda module: retinanet_place(module, old_heads))
    for leaf in ("W", "b"):
        offsets = _rows(named[f"loc_head/out/{leaf}"], n_anchor)
        named[f"loc_head/out/{leaf}"] = _flat(offsets[:, [1, 0, 3, 2]])  # dx dy dw dh to dy dx dh dw
        scores = _rows(named[f"conf_head/out/{leaf}"], n_anchor)
        named[f"conf_head/out/{leaf}"] = _flat(scores[:, sigmoid_rows(scores.shape[1], n_fg_class)])
    return named


def sigmoid_rows(n_class: int, n_fg_class: int | None) -> np.ndarray:
    """Which of n_class rows without a background's are taken: of torchvision's 91 all if 91 classes are asked for, all
    but the unused first if 90 are, else those of COCO's 80."""
    if n_class != N_TORCHVISION_CLASS or n_fg_class == N_TORCHVISION_CLASS:
        return np.arange(n_class)
    return np.arange(1, n_class) if n_fg_class == N_TORCHVISION_CLASS - 1 else COCO_ROWS


def _rows(array: np.ndarray, n_anchor: int) -> np.ndarray:
    """(K * n, ...) as (K, n, ...)."""
    return array.reshape(n_anchor, -1, *array.shape[1:])


def _flat(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1, *array.shape[2:])
