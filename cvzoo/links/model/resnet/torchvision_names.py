"""torchvision's names in a ResNet (timm's are the same, with gates), and ours."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.torch_names import own_names

# of modules
PATTERNS = (
    (r"(?:layer0\.)?conv1", r"extractor/conv1/conv"),
    (r"(?:layer0\.)?bn1", r"extractor/conv1/bn"),
    (r"layer1\.(\d+)\.(.+)", r"extractor/res2/\1/\2"),
    (r"layer2\.(\d+)\.(.+)", r"extractor/res3/\1/\2"),
    (r"layer3\.(\d+)\.(.+)", r"extractor/res4/\1/\2"),
    (r"layer4\.(\d+)\.(.+)", r"extractor/res5/\1/\2"),
    (r"fc|last_linear", r"fc"),
)
# of what stands in a block
_IN_BLOCK = (
    (r"/conv([123])$", r"/conv\1/conv"),
    (r"/bn([123])$", r"/conv\1/bn"),
    (r"/downsample\.0$", r"/shortcut/conv"),
    (r"/downsample\.1$", r"/shortcut/bn"),
    (r"/(?:se|se_module)\.fc1$", r"/se/down"),
    (r"/(?:se|se_module)\.fc2$", r"/se/up"),
)


def resnet_place(module: str) -> str | None:
    """Our path of a module of torchvision's ResNet: "extractor/res2/0/conv1/bn" of "layer1.0.bn1"; None: none."""
    for pattern, place in PATTERNS:
        match = re.fullmatch(pattern, module)
        if match:
            path = match.expand(place)
            if "/res" in path:
                for inner, ours in _IN_BLOCK:
                    path = re.sub(inner, ours, path)
            return path
    return None


def is_torchvision_resnet(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of a torchvision ResNet, with or without its classifier."""
    return "conv1.weight" in arrays and "layer4.0.conv1.weight" in arrays


def from_torchvision(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those that have no place here keep theirs."""
    return own_names(arrays, resnet_place)


def depth_of(arrays: Mapping[str, np.ndarray]) -> int:
    """The number of layers of the ResNet whose arrays, by our names, these are.

    Raises WeightsMismatchError if it is none that is known.
    """
    blocks = len({name.split("/")[2] for name in arrays if name.startswith("extractor/res4/")})
    bottleneck = "extractor/res2/0/conv3/conv/W" in arrays
    known = {(1, False): 10, (2, False): 18, (6, False): 34, (6, True): 50, (23, True): 101, (36, True): 152}
    if (blocks, bottleneck) not in known:
        raise WeightsMismatchError("the file holds no ResNet of a known depth", got=f"{blocks} blocks in stage 4")
    return known[blocks, bottleneck]
