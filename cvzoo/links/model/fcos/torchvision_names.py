"""torchvision's names in an FCOS, and ours; its rows of classes and distances in our order."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.pretrained.names import own_names
from cvzoo.links.model.resnet.names import resnet_place
from cvzoo.links.model.retinanet.torchvision_names import sigmoid_rows

_PLACES = (
    (r"backbone\.fpn\.inner_blocks\.(\d+)\.0", r"fpn/inner/\1"),
    (r"backbone\.fpn\.layer_blocks\.(\d+)\.0", r"fpn/outer/\1"),
    (r"backbone\.fpn\.extra_blocks\.p6", r"fpn/extra/0"),
    (r"backbone\.fpn\.extra_blocks\.p7", r"fpn/extra/1"),
    (r"head\.classification_head\.cls_logits", r"head/conf"),
    (r"head\.regression_head\.bbox_reg", r"head/loc"),
    (r"head\.regression_head\.bbox_ctrness", r"head/center"),
)
_TOWERS = {"classification": "conf_tower", "regression": "loc_tower"}


def is_torchvision_fcos(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of torchvision's FCOS."""
    return "head.regression_head.bbox_ctrness.weight" in arrays and "backbone.body.conv1.weight" in arrays


def fcos_place(module: str) -> str | None:
    """Our path of a module of torchvision's FCOS, None where there is none."""
    if module.startswith("backbone.body."):
        return resnet_place(module.removeprefix("backbone.body."))
    for pattern, place in _PLACES:
        match = re.fullmatch(pattern, module)
        if match:
            return match.expand(place)
    match = re.fullmatch(r"head\.(classification|regression)_head\.conv\.(\d+)", module)
    if match is None or int(match[2]) % 3 == 2:  # convolution, normalization, relu, and again
        return None
    return f"head/{_TOWERS[match[1]]}/{('convs', 'norms')[int(match[2]) % 3]}/{int(match[2]) // 3}"


def from_torchvision(arrays: Mapping[str, np.ndarray], *, n_fg_class: int | None) -> dict[str, np.ndarray]:
    """The arrays by our names and with our order of sides; those that have no place here keep their names.

    n_fg_class: of the model to be, see `sigmoid_rows`
    """
    named = own_names(arrays, fcos_place)
    for leaf in ("W", "b"):
        named[f"head/loc/{leaf}"] = named[f"head/loc/{leaf}"][[1, 0, 3, 2]]  # left up right down to up left down right
        scores = named[f"head/conf/{leaf}"]
        named[f"head/conf/{leaf}"] = scores[sigmoid_rows(len(scores), n_fg_class)]
    return named
