"""torchvision's names in a ShuffleNetV2, and ours."""

import re

from cvzoo.links.model.pretrained.names import Names

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
    """Our path of a module of torchvision's; None: none."""
    match = _BLOCK.fullmatch(module)
    if match is None or match[3] not in _IN_BLOCK:
        return _AROUND.get(module)
    return f"extractor/stages/{int(match[1]) - 2}/{match[2]}/{_IN_BLOCK[match[3]]}"


NAMES = {"torchvision": Names(marks=(), modules=shufflenet_v2_place)}
