"""detectron2's names in a two-stage detector on a pyramid, and ours; its rows of classes and channels in our order."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.faster_rcnn_fpn.torchvision_names import as_window, yx_rows
from cvzoo.links.model.pretrained.names import own_names

_BODY = r"backbone\.bottom_up\."
_PLACES = (
    (_BODY + r"stem\.conv1", r"regions/extractor/conv1/conv"),
    (_BODY + r"stem\.conv1\.norm", r"regions/extractor/conv1/bn"),
    (_BODY + r"(res\d)\.(\d+)\.(conv\d|shortcut)", r"regions/extractor/\1/\2/\3/conv"),
    (_BODY + r"(res\d)\.(\d+)\.(conv\d|shortcut)\.norm", r"regions/extractor/\1/\2/\3/bn"),
    (r"proposal_generator\.rpn_head\.conv", r"regions/rpn/convs/0/conv"),
    (r"proposal_generator\.rpn_head\.objectness_logits", r"regions/rpn/conf"),
    (r"proposal_generator\.rpn_head\.anchor_deltas", r"regions/rpn/loc"),
    (r"roi_heads\.box_predictor\.cls_score", r"regions/box_head/conf"),
    (r"roi_heads\.box_predictor\.bbox_pred", r"regions/box_head/loc"),
    (r"roi_heads\.mask_head\.deconv", r"mask_head/up"),
    (r"roi_heads\.mask_head\.predictor", r"mask_head/out"),
    (r"roi_heads\.keypoint_head\.score_lowres", r"point_head/out"),
)
# counted from 1, or from the map's level 2
_COUNTED = (
    (r"backbone\.fpn_lateral(\d+)", "regions/fpn/inner/{}", 2),
    (r"backbone\.fpn_output(\d+)", "regions/fpn/outer/{}", 2),
    (r"roi_heads\.box_head\.fc(\d+)", "regions/box_head/fcs/{}/conv", 1),
    (r"roi_heads\.mask_head\.mask_fcn(\d+)", "mask_head/convs/{}/conv", 1),
    (r"roi_heads\.keypoint_head\.conv_fcn(\d+)", "point_head/convs/{}/conv", 1),
)
# constants that the settings have
_CONSTANTS = re.compile(r"pixel_mean|pixel_std|(proposal_generator\.)?anchor_generator\.cell_anchors\.\d+")


def is_detectron2_region_network(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of detectron2's Faster, Mask or Keypoint R-CNN on a pyramid."""
    return "backbone.fpn_lateral2.weight" in arrays and "roi_heads.box_predictor.cls_score.weight" in arrays


def detectron2_place(module: str) -> str | None:
    """Our path of a module of detectron2's network, None where there is none."""
    for pattern, place in _PLACES:
        match = re.fullmatch(pattern, module)
        if match:
            return match.expand(place)
    for pattern, place, first in _COUNTED:
        match = re.fullmatch(pattern, module)
        if match:
            return place.format(int(match[1]) - first)
    return None


def from_detectron2(arrays: Mapping[str, np.ndarray], *, roi_size: int = 7) -> dict[str, np.ndarray]:
    """The arrays by our names, in our order of channels, offsets and classes; those without a place keep their names.

    Photos are RGB here and BGR there; background is the first class here and the last there.
    """
    kept = {name: array for name, array in arrays.items() if not _CONSTANTS.fullmatch(name)}
    for name, array in arrays.items():
        if name.endswith(".norm.weight"):  # early files have normalizations that were folded into scale and shift
            kept.setdefault(name.replace(".weight", ".running_mean"), np.zeros_like(array))
            kept.setdefault(name.replace(".weight", ".running_var"), np.ones_like(array))
    named = own_names(kept, detectron2_place)
    named = {name: as_window(name, array, roi_size) for name, array in named.items()}
    stem = "regions/extractor/conv1/conv/W"
    named[stem] = np.ascontiguousarray(named[stem][:, ::-1])
    for leaf in ("W", "b"):
        for name in (f"regions/rpn/loc/{leaf}", f"regions/box_head/loc/{leaf}"):
            named[name] = yx_rows(named[name])
        name = f"regions/box_head/conf/{leaf}"
        named[name] = np.roll(named[name], 1, axis=0)
    return named
