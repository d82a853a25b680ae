"""Published weights of ConvNeXt: the size, then the name that a user gives.

Array names of torchvision, the authors, timm and cvzoo in a ConvNeXt.
"""

import re

import numpy as np

from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.imagenet import maker_record
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature

_IN_DOWN = {"0": "norm", "1": "conv"}
_TORCHVISION = {
    "features.0.0": "extractor/stem/conv",
    "features.0.1": "extractor/stem/norm",
    "classifier.0": "norm",
    "classifier.2": "fc",
}
_TORCHVISION_IN_BLOCK = {"0": "depthwise", "2": "norm", "3": "widen", "5": "narrow"}
# the authors', then timm's
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
    """cvzoo's path of a module of torchvision's: "extractor/res2/0/norm" of "features.1.0.block.2", or None."""
    match = re.fullmatch(r"features\.([246])\.([01])", module)
    if match:
        return f"extractor/down{int(match[1]) // 2 + 2}/{_IN_DOWN[match[2]]}"
    match = re.fullmatch(r"features\.([1357])\.(\d+)\.block\.([0235])", module)
    if match:
        return f"extractor/res{int(match[1]) // 2 + 2}/{match[2]}/{_TORCHVISION_IN_BLOCK[match[3]]}"
    return _TORCHVISION.get(module)


def maker_place(module: str) -> str | None:
    """cvzoo's path of a module of the authors' or timm's: "extractor/res2/0/widen" of "stages.0.0.pwconv1", or None."""
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


_SITE = "https://dl.fbaipublicfiles.com/convnext/"
_LICENCE = "Apache-2.0, as timm says; the makers' code is MIT"
_LARGER_DATA = "ImageNet-22K, then ImageNet-1K, ILSVRC 2012 training images"


def _torchvision(
    size: str, digits: str, top1: float, top5: float, short: int, mib: float, signature: Signature
) -> ClassWeights:
    enum = f"ConvNeXt_{size.capitalize()}_Weights.IMAGENET1K_V1"
    file = f"convnext_{size}-{digits}.pth"
    return torchvision_classifier(
        f"convnext_{size}_imagenet", file, top1, top5, enum=enum, short=short, mib=mib, signature=signature
    )


def _maker(size: str, top1: float, top5: float) -> ClassWeights:
    return maker_record(
        f"convnext_{size}_imagenet_fb",
        f"{_SITE}convnext_{size}_1k_224_ema.pth",
        top1,
        top5,
        source="facebookresearch/ConvNeXt",
        licence=_LICENCE,
        crop=224,
        share=0.875,
    )


def _maker_22k(size: str, top1: float, top5: float) -> ClassWeights:
    return maker_record(
        f"convnext_{size}_imagenet_22k",
        f"{_SITE}convnext_{size}_22k_1k_384.pth",
        top1,
        top5,
        source="facebookresearch/ConvNeXt",
        licence=_LICENCE,
        crop=384,
        share=1.0,
        data=_LARGER_DATA,
    )


WEIGHTS = {
    "tiny": {
        "imagenet": _torchvision(
            "tiny", "983f1562", 82.52, 96.146, 236, 109.119, Signature(182, "features.0.0.weight", (96, 3, 4, 4))
        ),
        "imagenet_fb": _maker("tiny", 82.066, 95.854),
        "imagenet_22k": _maker_22k("tiny", 84.098, 97.138),
    },
    "small": {
        "imagenet": _torchvision(
            "small", "0c510722", 83.616, 96.65, 230, 191.703, Signature(344, "features.0.0.weight", (96, 3, 4, 4))
        ),
        "imagenet_fb": _maker("small", 83.144, 96.432),
        "imagenet_22k": _maker_22k("small", 85.752, 97.878),
    },
    "base": {
        "imagenet": _torchvision(
            "base", "6075fbad", 84.062, 96.87, 232, 338.064, Signature(344, "features.0.0.weight", (128, 3, 4, 4))
        ),
        "imagenet_fb": _maker("base", 83.838, 96.746),
        "imagenet_22k": _maker_22k("base", 86.826, 98.244),
    },
    "large": {
        "imagenet": _torchvision(
            "large", "ea097f82", 84.414, 96.976, 232, 754.537, Signature(344, "features.0.0.weight", (192, 3, 4, 4))
        ),
        "imagenet_fb": _maker("large", 84.304, 96.892),
        "imagenet_22k": _maker_22k("large", 87.456, 98.38),
    },
}
