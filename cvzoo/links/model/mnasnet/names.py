"""torchvision's and timm's names in an MNASNet, and ours."""

import re

from cvzoo.links.model.mnasnet.extractor import STAGES
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.timm import TIMM_AROUND, TIMM_MARKS, timm_places

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
_FIRST = 8  # layers before it are the first convolution and the first stage, spelled out


def mnasnet_place(module: str) -> str | None:
    """Our path of a module of torchvision's; None: none."""
    match = _BLOCK.fullmatch(module)
    if match is None or match[3] not in _ROLES:
        return _AROUND.get(module)
    return f"extractor/stages/{int(match[1]) - _FIRST + 1}/{match[2]}/{_ROLES[match[3]]}"


def timm_mnasnet_places() -> dict[str, str]:
    """Our path of each module of timm's."""
    places = dict(TIMM_AROUND)
    for s, stage in enumerate(STAGES):
        for i in range(stage.count):
            block = f"blocks.{s}.{i}", f"extractor/stages/{s}/{i}"
            places.update(timm_places(*block, expand=stage.factor > 1, excite=False))
    return places


NAMES = {
    "timm": Names(marks=TIMM_MARKS, modules=timm_mnasnet_places()),
    "torchvision": Names(marks=(), modules=mnasnet_place),
}
