"""torchvision's names in a RegNet, and ours."""

import re

from cvzoo.links.model.pretrained.names import Names

_BLOCK = re.compile(r"trunk_output\.block(\d+)\.block\d+-(\d+)\.(.+)")
_IN_BLOCK = {
    "proj.0": "shortcut/conv",
    "proj.1": "shortcut/bn",
    "f.a.0": "conv1/conv",
    "f.a.1": "conv1/bn",
    "f.b.0": "conv2/conv",
    "f.b.1": "conv2/bn",
    "f.se.fc1": "se/fc1",
    "f.se.fc2": "se/fc2",
    "f.c.0": "conv3/conv",
    "f.c.1": "conv3/bn",
}
_AROUND = {"stem.0": "extractor/stem/conv", "stem.1": "extractor/stem/bn", "fc": "fc"}


def regnet_place(module: str) -> str | None:
    """Our path of a module of torchvision's; None: none."""
    match = _BLOCK.fullmatch(module)
    if match is None or match[3] not in _IN_BLOCK:
        return _AROUND.get(module)
    return f"extractor/stages/{int(match[1]) - 1}/{match[2]}/{_IN_BLOCK[match[3]]}"


NAMES = {"torchvision": Names(marks=(), modules=regnet_place)}
