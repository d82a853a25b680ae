"""torchvision's names in a ConvNeXt, the makers', timm's, and ours."""

import re

import numpy as np

from cvzoo.links.model.pretrained.names import Names

_IN_DOWN = {"0": "norm", "1": "conv"}
_TORCHVISION = {
    "features.0.0": "extractor/stem/conv",
    "features.0.1": "extractor/stem/norm",
    "classifier.0": "norm",
    "classifier.2": "fc",
}
_TORCHVISION_IN_BLOCK = {"0": "depthwise", "2": "norm", "3": "widen", "5": "narrow"}
# the makers' before timm's
_MAKERS = {
    "downsample_layers.0.0": "extractor/stem/conv",
    "downsample_layers.0.1": "extractor/stem/norm",
    "norm": "norm",
    "head": "fc",
    "stem.0": "extractor/stem/conv",
    "stem.1": "extractor/stem/norm",
    "head.norm": "norm",
    "head.fc": "fc",
}
_MAKERS_IN_BLOCK = {
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


def torchvision_place(module: str) -> str | None:
    """Our path of a module of torchvision's: "extractor/res2/0/norm" of "features.1.0.block.2"; None: none."""
    match = re.fullmatch(r"features\.([246])\.([01])", module)
    if match:
        return f"extractor/down{int(match[1]) // 2 + 2}/{_IN_DOWN[match[2]]}"
    match = re.fullmatch(r"features\.([1357])\.(\d+)\.block\.([0235])", module)
    if match:
        return f"extractor/res{int(match[1]) // 2 + 2}/{match[2]}/{_TORCHVISION_IN_BLOCK[match[3]]}"
    return _TORCHVISION.get(module)


def maker_place(module: str) -> str | None:
    """Our path of a module of the makers or timm: "extractor/res2/0/widen" of "stages.0.0.pwconv1"; None: none."""
    match = re.fullmatch(_DOWN, module)
    if match:
        return f"extractor/down{int(match[1] or match[3]) + 2}/{_IN_DOWN[match[2] or match[4]]}"
    match = re.match(_BLOCK, module)
    if match and module[match.end() :] in _MAKERS_IN_BLOCK:
        return f"extractor/res{int(match[1]) + 2}/{match[2]}/{_MAKERS_IN_BLOCK[module[match.end() :]]}"
    return _MAKERS.get(module)


def _scale(match: re.Match[str]) -> str:
    return f"extractor/res{int(match[1]) // 2 + 2}/{match[2]}/scale"


def _maker_scale(match: re.Match[str]) -> str:
    return f"extractor/res{int(match[1]) + 2}/{match[2]}/scale"


NAMES = {
    "makers": Names(
        marks=("downsample_layers.0.0.weight",), modules=maker_place, rules=[(f"^{_BLOCK}gamma$", _maker_scale)]
    ),
    "timm": Names(marks=("stem.0.weight",), modules=maker_place, rules=[(f"^{_BLOCK}gamma$", _maker_scale)]),
    "torchvision": Names(
        marks=(),
        modules=torchvision_place,
        rules=[(r"^features\.([1357])\.(\d+)\.layer_scale$", _scale)],
        values=[(r"extractor/res\d/\d+/scale", np.ravel)],
    ),
}
