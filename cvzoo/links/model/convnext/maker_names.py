"""The makers' names in a ConvNeXt, timm's, and ours."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.torch_names import own_names

# of modules: the makers' before timm's
_AROUND = {
    "downsample_layers.0.0": "extractor/stem/conv",
    "downsample_layers.0.1": "extractor/stem/norm",
    "norm": "norm",
    "head": "fc",
    "stem.0": "extractor/stem/conv",
    "stem.1": "extractor/stem/norm",
    "head.norm": "norm",
    "head.fc": "fc",
}
_IN_DOWN = {"0": "norm", "1": "conv"}
_IN_BLOCK = {
    "dwconv": "depthwise",
    "norm": "norm",
    "pwconv1": "widen",
    "pwconv2": "narrow",
    "conv_dw": "depthwise",
    "mlp.fc1": "widen",
    "mlp.fc2": "narrow",
}
_DOWN = r"downsample_layers\.([123])\.([01])|stages\.([123])\.downsample\.([01])"
_BLOCK = r"stages\.(\d)\.(?:blocks\.)?(\d+)\."


def is_maker_s(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the makers' names, or timm's."""
    return "downsample_layers.0.0.weight" in arrays or "stem.0.weight" in arrays


def maker_place(module: str) -> str | None:
    """Our path of a module: "extractor/res2/0/widen" of "stages.0.0.pwconv1"; None: none."""
    if module in _AROUND:
        return _AROUND[module]
    match = re.fullmatch(_DOWN, module)
    if match:
        return f"extractor/down{int(match[1] or match[3]) + 2}/{_IN_DOWN[match[2] or match[4]]}"
    match = re.match(_BLOCK, module)
    if match and module[match.end() :] in _IN_BLOCK:
        return f"extractor/res{int(match[1]) + 2}/{match[2]}/{_IN_BLOCK[module[match.end() :]]}"
    return None


def from_maker(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those that have no place here keep theirs."""
    named = {}
    for name, array in own_names(arrays, maker_place).items():
        match = re.fullmatch(_BLOCK + "gamma", name)
        named[f"extractor/res{int(match[1]) + 2}/{match[2]}/scale" if match else name] = array
    return named
