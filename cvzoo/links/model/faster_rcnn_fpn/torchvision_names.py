"""torchvision's names in a two-stage detector on a pyramid, and ours; its rows of classes and offsets in our order."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.mobilenet_v3.names import extractor_places
from cvzoo.links.model.mobilenet_v3.rows import network_plan
from cvzoo.links.model.pretrained.names import own_names
from cvzoo.links.model.resnet.names import resnet_place
from cvzoo.links.model.retinanet.torchvision_names import COCO_ROWS, N_TORCHVISION_CLASS

_PLACES = (
    (r"fpn\.inner_blocks\.(\d+)\.0", r"regions/fpn/inner/\1"),
    (r"fpn\.layer_blocks\.(\d+)\.0", r"regions/fpn/outer/\1"),
    (r"rpn\.head\.conv\.(\d+)\.0", r"regions/rpn/convs/\1/conv"),
    (r"rpn\.head\.cls_logits", r"regions/rpn/conf"),
    (r"rpn\.head\.bbox_pred", r"regions/rpn/loc"),
    (r"roi_heads\.box_head\.fc6", r"regions/box_head/fcs/0/conv"),
    (r"roi_heads\.box_head\.fc7", r"regions/box_head/fcs/1/conv"),
    (r"roi_heads\.box_head\.(\d+)\.0", r"regions/box_head/convs/\1/conv"),
    (r"roi_heads\.box_head\.(\d+)\.1", r"regions/box_head/convs/\1/bn"),
    (r"roi_heads\.box_predictor\.cls_score", r"regions/box_head/conf"),
    (r"roi_heads\.box_predictor\.bbox_pred", r"regions/box_head/loc"),
    (r"roi_heads\.mask_head\.(\d+)\.0", r"mask_head/convs/\1/conv"),
    (r"roi_heads\.mask_head\.(\d+)\.1", r"mask_head/convs/\1/bn"),
    (r"roi_heads\.mask_predictor\.conv5_mask", r"mask_head/up"),
    (r"roi_heads\.mask_predictor\.mask_fcn_logits", r"mask_head/out"),
    (r"roi_heads\.keypoint_predictor\.kps_score_lowres", r"point_head/out"),
)
# names that torchvision had before its version 0.13
_OLD = (
    (r"^backbone\.fpn\.", r"fpn."),
    (r"^(fpn\.(?:inner|layer)_blocks\.\d+)\.(weight|bias)$", r"\1.0.\2"),
    (r"^rpn\.head\.conv\.(weight|bias)$", r"rpn.head.conv.0.0.\1"),
)


def is_torchvision_region_network(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of torchvision's Faster, Mask or Keypoint R-CNN."""
    return "roi_heads.box_predictor.cls_score.weight" in arrays and "rpn.head.cls_logits.weight" in arrays


def is_mobilenet(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether the backbone is a MobileNetV3."""
    return "backbone.body.0.0.weight" in arrays


def region_place(module: str, *, normed: bool, body: Mapping[str, str]) -> str | None:
    """Our path of a module of torchvision's network, None where there is none.

    normed: the pyramid's convolutions are normalized: they have one level of names more
    body: of a MobileNet, its modules' paths; empty for a ResNet
    """
    if module in body:
        return body[module]
    if module.startswith("backbone.body."):
        place = resnet_place(module.removeprefix("backbone.body."))
        return None if place is None else f"regions/{place}"
    if normed:
        match = re.fullmatch(r"fpn\.(inner|layer)_blocks\.(\d+)\.([01])", module)
        if match:
            kind = "inner" if match[1] == "inner" else "outer"
            return f"regions/fpn/{kind}/{match[2]}/{'conv' if match[3] == '0' else 'bn'}"
        if re.fullmatch(r"roi_heads\.box_head\.\d+", module):  # after the convolutions and the flattening
            return "regions/box_head/fcs/0/conv"
    match = re.fullmatch(r"roi_heads\.keypoint_head\.(\d+)", module)
    if match:  # relus are counted, too
        return f"point_head/convs/{int(match[1]) // 2}/conv"
    for pattern, place in _PLACES:
        match = re.fullmatch(pattern, module)
        if match:
            return match.expand(place)
    return None


def from_torchvision(
    arrays: Mapping[str, np.ndarray], *, n_fg_class: int | None, roi_size: int = 7, width: float = 1.0
) -> dict[str, np.ndarray]:
    """The arrays by our names, with our order of offsets; those that have no place here keep their names.

    n_fg_class: of the model to be; unless it is 90, the 80 rows of COCO's classes are taken out of 91 with background
    roi_size: cells of a region along a side
    width: of a MobileNet
    """
    renamed = {}
    for name, array in arrays.items():
        name = re.sub(r"roi_heads\.mask_head\.mask_fcn(\d+)", lambda m: f"roi_heads.mask_head.{int(m[1]) - 1}.0", name)
        for old, new in _OLD:
            name = re.sub(old, new, name)
        renamed[name] = array
    normed = "fpn.inner_blocks.0.1.weight" in renamed
    body = {}
    if is_mobilenet(arrays):
        body = extractor_places(network_plan("large", width=width), theirs="backbone.body", ours="regions/extractor")
    named = own_names(renamed, lambda module: region_place(module, normed=normed, body=body))
    rows = fg_rows(len(named["regions/box_head/conf/b"]), n_fg_class)
    named = {name: as_window(name, array, roi_size) for name, array in named.items()}
    for leaf in ("W", "b"):
        name = f"regions/rpn/loc/{leaf}"
        named[name] = yx_rows(named[name])
        name = f"regions/box_head/loc/{leaf}"
        named[name] = yx_rows(rows_of_classes(named[name], rows))
        name = f"regions/box_head/conf/{leaf}"
        named[name] = named[name][np.append(0, rows)]
        name = f"mask_head/out/{leaf}"
        if name in named:
            named[name] = named[name][rows]
    return named


def fg_rows(n_class: int, n_fg_class: int | None) -> np.ndarray:
    """The rows of classes that a model of n_fg_class classes takes out of n_class with background."""
    if n_class == N_TORCHVISION_CLASS and n_fg_class != N_TORCHVISION_CLASS - 1:
        return COCO_ROWS
    return np.arange(1, n_class)


def as_window(name: str, array: np.ndarray, roi_size: int) -> np.ndarray:
    """The weights of a fully connected layer as those of a convolution; others as they are."""
    if not re.fullmatch(r"regions/box_head/fcs/\d+/conv/W", name) or array.ndim != 2:
        return array
    size = roi_size if "/fcs/0/" in name else 1
    if array.shape[1] % size**2:
        return array  # it will not fit, and the error will name it
    return array.reshape(len(array), -1, size, size)


def yx_rows(array: np.ndarray) -> np.ndarray:
    """(4 * K, ...) of dx dy dw dh as (4 * K, ...) of dy dx dh dw."""
    four = array.reshape(-1, 4, *array.shape[1:])
    return np.ascontiguousarray(four[:, [1, 0, 3, 2]]).reshape(array.shape)


def rows_of_classes(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The four rows of each of these classes, of (4 * K, ...)."""
    four = array.reshape(-1, 4, *array.shape[1:])[rows]
    return four.reshape(-1, *array.shape[1:])
