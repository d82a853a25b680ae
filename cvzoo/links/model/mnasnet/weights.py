"""Published weights of the MNASNets: the width, then the name that a user gives.

torchvision's and timm's names in an MNASNet, and cvzoo's.
"""

import re

from cvzoo.links.model.mnasnet.extractor import STAGES
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.timm import TIMM_AROUND, TIMM_MARKS, timm_classifier, timm_places
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature

_BLOCK = re.compile(r"layers\.(\d+)\.(\d+)\.layers\.(\d)")
_ROLES = {
    "0": "expand/conv",
    "1": "expand/bn",
    "3": "depthwise/conv",
    "4": "depthwise/bn",
    "6": "project/conv",
    "7": "project/bn",
}
_AROUND = {
    "layers.0": "extractor/stem/conv",
    "layers.1": "extractor/stem/bn",
    "layers.3": "extractor/stages/0/0/depthwise/conv",
    "layers.4": "extractor/stages/0/0/depthwise/bn",
    "layers.6": "extractor/stages/0/0/project/conv",
    "layers.7": "extractor/stages/0/0/project/bn",
    "layers.14": "extractor/last/conv",
    "layers.15": "extractor/last/bn",
    "classifier.1": "fc",
}
_FIRST = 8  # the layers before it are those of the first convolution and the first stage


def mnasnet_place(module: str) -> str | None:
    """Our path of a module of torchvision's; None if it has none."""
    match = _BLOCK.fullmatch(module)
    if match is None or match[3] not in _ROLES:
        return _AROUND.get(module)
    return f"extractor/stages/{int(match[1]) - _FIRST + 1}/{match[2]}/{_ROLES[match[3]]}"


def timm_mnasnet_places() -> dict[str, str]:
    """cvzoo's path of each module of timm's."""
    places = dict(TIMM_AROUND)
    for s, stage in enumerate(STAGES):
        for i in range(stage.n_block):
            block = f"blocks.{s}.{i}", f"extractor/stages/{s}/{i}"
            places.update(timm_places(*block, expand=stage.factor > 1, excite=False))
    return places


NAMES = {
    "timm": Names(marks=TIMM_MARKS, modules=timm_mnasnet_places()),
    "torchvision": Names(marks=(), modules=mnasnet_place),
}


WEIGHTS = {
    0.5: {
        "imagenet": torchvision_classifier(
            "mnasnet_0_5_imagenet",
            "mnasnet0.5_top1_67.823-3ffadce67e.pth",
            67.734,
            87.49,
            enum="MNASNet0_5_Weights.IMAGENET1K_V1",
            mib=8.591,
            signature=Signature(262, "layers.0.weight", (16, 3, 3, 3)),
        ),
    },
    0.75: {
        "imagenet": torchvision_classifier(
            "mnasnet_0_75_imagenet",
            "mnasnet0_75-7090bc5f.pth",
            71.18,
            90.496,
            enum="MNASNet0_75_Weights.IMAGENET1K_V1",
            short=232,
            mib=12.303,
            signature=Signature(262, "layers.0.weight", (24, 3, 3, 3)),
        ),
    },
    1.0: {
        "imagenet": torchvision_classifier(
            "mnasnet_1_0_imagenet",
            "mnasnet1.0_top1_73.512-f206786ef8.pth",
            73.456,
            91.51,
            enum="MNASNet1_0_Weights.IMAGENET1K_V1",
            mib=16.915,
            signature=Signature(262, "layers.0.weight", (32, 3, 3, 3)),
        ),
        "imagenet_timm": timm_classifier(
            "mnasnet_1_0_imagenet_timm",
            "v0.1-weights/mnasnet_b1-74cb7081.pth",
            74.672,
            92.108,
            model="mnasnet_100.rmsp_in1k",
        ),
    },
    1.3: {
        "imagenet": torchvision_classifier(
            "mnasnet_1_3_imagenet",
            "mnasnet1_3-a4c69d6f.pth",
            76.506,
            93.522,
            enum="MNASNet1_3_Weights.IMAGENET1K_V1",
            short=232,
            mib=24.246,
            signature=Signature(262, "layers.0.weight", (40, 3, 3, 3)),
        ),
    },
}
