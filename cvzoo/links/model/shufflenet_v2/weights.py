"""Published weights of the ShuffleNetV2s: the width, then the name that a user gives.

torchvision's names in a ShuffleNetV2, and cvzoo's.
"""

import re

from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature

_BLOCK = re.compile(r"stage([234])\.(\d+)\.(branch[12]\.\d)")
_IN_BLOCK = {
    "branch1.0": "beside/conv",
    "branch1.1": "beside/bn",
    "branch1.2": "beside_project/conv",
    "branch1.3": "beside_project/bn",
    "branch2.0": "expand/conv",
    "branch2.1": "expand/bn",
    "branch2.3": "depthwise/conv",
    "branch2.4": "depthwise/bn",
    "branch2.5": "project/conv",
    "branch2.6": "project/bn",
}
_AROUND = {
    "conv1.0": "extractor/stem/conv",
    "conv1.1": "extractor/stem/bn",
    "conv5.0": "extractor/last/conv",
    "conv5.1": "extractor/last/bn",
    "fc": "fc",
}


def shufflenet_v2_place(module: str) -> str | None:
    """Our path of a module of torchvision's; None if it has none."""
    match = _BLOCK.fullmatch(module)
    if match is None or match[3] not in _IN_BLOCK:
        return _AROUND.get(module)
    return f"extractor/stages/{int(match[1]) - 2}/{match[2]}/{_IN_BLOCK[match[3]]}"


NAMES = {"torchvision": Names(marks=(), modules=shufflenet_v2_place)}


WEIGHTS = {
    0.5: {
        "imagenet": torchvision_classifier(
            "shufflenet_v2_x0_5_imagenet",
            "shufflenetv2_x0.5-f707e7126e.pth",
            60.552,
            81.746,
            enum="ShuffleNet_V2_X0_5_Weights.IMAGENET1K_V1",
            mib=5.282,
            signature=Signature(282, "stage2.0.branch1.2.weight", (24, 24, 1, 1)),
        ),
    },
    1.0: {
        "imagenet": torchvision_classifier(
            "shufflenet_v2_x1_0_imagenet",
            "shufflenetv2_x1-5666bf0f80.pth",
            69.362,
            88.316,
            enum="ShuffleNet_V2_X1_0_Weights.IMAGENET1K_V1",
            mib=8.791,
            signature=Signature(282, "stage2.0.branch1.2.weight", (58, 24, 1, 1)),
        ),
    },
    1.5: {
        "imagenet": torchvision_classifier(
            "shufflenet_v2_x1_5_imagenet",
            "shufflenetv2_x1_5-3c479a10.pth",
            72.996,
            91.086,
            enum="ShuffleNet_V2_X1_5_Weights.IMAGENET1K_V1",
            short=232,
            mib=13.557,
            signature=Signature(282, "stage2.0.branch1.2.weight", (88, 24, 1, 1)),
        ),
    },
    2.0: {
        "imagenet": torchvision_classifier(
            "shufflenet_v2_x2_0_imagenet",
            "shufflenetv2_x2_0-8be3c8ee.pth",
            76.23,
            93.006,
            enum="ShuffleNet_V2_X2_0_Weights.IMAGENET1K_V1",
            short=232,
            mib=28.433,
            signature=Signature(282, "stage2.0.branch1.2.weight", (122, 24, 1, 1)),
        ),
    },
}
