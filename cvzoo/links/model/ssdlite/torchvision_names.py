"""torchvision's names in an SSDLite on MobileNetV3, and ours."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.inverted_residual import sequential_places
from cvzoo.links.model.mobilenet_v3.names import extractor_places
from cvzoo.links.model.mobilenet_v3.rows import network_plan
from cvzoo.links.model.pretrained.names import own_names
from cvzoo.links.model.ssd.torchvision_names import HEADS, reordered
from cvzoo.links.model.ssdlite.extractor import SPLIT

_EXTRA = re.compile(r"backbone\.extra\.(\d+)\.([012])\.([01])")
_HEAD = re.compile(r"head\.(classification|regression)_head\.module_list\.(\d+)\.(0\.0|0\.1|1)")
_PARTS = {"0.0": "depthwise/conv", "0.1": "depthwise/bn", "1": "out"}


def is_torchvision_ssdlite(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of torchvision's SSDLite."""
    return "head.regression_head.module_list.0.1.weight" in arrays and "backbone.features.0.0.0.weight" in arrays


def ssdlite_places(*, width: float = 1.0, reduced_tail: bool = True) -> dict[str, str]:
    """Our path of each module of MobileNetV3 in torchvision's SSDLite, which cuts the network inside a block."""
    plan = network_plan("large", width=width, reduced_tail=reduced_tail)
    theirs = {}
    for name, place in extractor_places(plan, ours="extractor/base").items():
        layer, _, rest = name.removeprefix("features.").partition(".")
        if int(layer) < SPLIT:
            theirs[f"backbone.features.0.{layer}.{rest}"] = place
        elif int(layer) > SPLIT:
            theirs[f"backbone.features.1.{int(layer) - SPLIT}.{rest}"] = place
    row = plan.rows[SPLIT - 1]
    block = sequential_places("cut", f"extractor/base/blocks/{SPLIT - 1}", expand=True, excite=row.excite)
    for name, place in block:
        rest = name.removeprefix("cut.")
        first = rest.startswith("0.")
        theirs[f"backbone.features.0.{SPLIT}.{rest[2:]}" if first else f"backbone.features.1.0.{rest}"] = place
    return theirs


def from_torchvision(
    arrays: Mapping[str, np.ndarray], *, n_fg_class: int | None, width: float = 1.0, reduced_tail: bool = True
) -> dict[str, np.ndarray]:
    """The arrays by our names and with our order of offsets; those that have no place here keep their names.

    n_fg_class: of the model to be; unless it is 90, COCO's 80 classes are taken out of 90
    """
    places = ssdlite_places(width=width, reduced_tail=reduced_tail)

    def place_of(module: str) -> str | None:
        match = _EXTRA.fullmatch(module)
        if match:
            return f"extractor/extras/{match[1]}/conv{int(match[2]) + 1}/{'bn' if match[3] == '1' else 'conv'}"
        match = _HEAD.fullmatch(module)
        if match:
            return f"{HEADS[match[1]]}/{match[2]}/{_PARTS[match[3]]}"
        return places.get(module)

    named = own_names(arrays, place_of)
    return reordered(named, lambda name: re.fullmatch(r"multibox/(loc|conf)/\d+/out/[Wb]", name), n_fg_class)
