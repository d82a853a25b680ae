"""torchvision's names in a ConvNeXt, and ours."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.torch_names import own_names

# of modules
_STEM = {"features.0.0": "extractor/stem/conv", "features.0.1": "extractor/stem/norm"}
_HEAD = {"classifier.0": "norm", "classifier.2": "fc"}
_IN_DOWN = {"0": "norm", "1": "conv"}
_IN_BLOCK = {"0": "depthwise", "2": "norm", "3": "widen", "5": "narrow"}


def convnext_place(module: str) -> str | None:
    """Our path of a module of torchvision's: "extractor/res2/0/norm" of "features.1.0.block.2"; None: none."""
    if module in _STEM or module in _HEAD:
        return {**_STEM, **_HEAD}[module]
    match = re.fullmatch(r"features\.([246])\.([01])", module)
    if match:
        return f"extractor/down{int(match[1]) // 2 + 2}/{_IN_DOWN[match[2]]}"
    match = re.fullmatch(r"features\.([1357])\.(\d+)\.block\.([0235])", module)
    if match:
        return f"extractor/res{int(match[1]) // 2 + 2}/{match[2]}/{_IN_BLOCK[match[3]]}"
    return None


def from_torchvision(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those that have no place here keep theirs."""
    named = {}
    for name, array in own_names(arrays, convnext_place).items():
        match = re.fullmatch(r"features\.([1357])\.(\d+)\.layer_scale", name)
        if match and array.ndim == 3:
            named[f"extractor/res{int(match[1]) // 2 + 2}/{match[2]}/scale"] = array.reshape(-1)
        else:
            named[name] = array
    return named
