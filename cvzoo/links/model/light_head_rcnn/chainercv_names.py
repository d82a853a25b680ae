"""ChainerCV's names of a ResNet's arrays, by ours."""

from collections.abc import Mapping

import numpy as np


def own_resnet_names(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names: extractor/res4/b22/residual_conv/... becomes extractor/res4/22/shortcut/...

    Arrays of other parts keep their names. A bias of the first convolution, which the converted networks of ImageNet
    have, goes into the mean that is taken off behind it.
    """
    named = {own_resnet_name(name): array for name, array in arrays.items()}
    for name in [name for name in named if name.endswith("conv1/conv/b") and "/res" not in f"/{name}"]:
        bias = named.pop(name)
        mean = name.removesuffix("conv/b") + "bn/avg_mean"
        named[mean] = named[mean] - bias
    return named


def own_resnet_name(name: str) -> str:
    """Our name of an array."""
    parts = name.split("/")
    for i, part in enumerate(parts[:-1]):
        if part in ("res2", "res3", "res4", "res5") and i + 2 < len(parts):
            block = parts[i + 1]
            if block == "a":
                parts[i + 1] = "0"
            elif block.startswith("b") and block[1:].isdigit():
                parts[i + 1] = block[1:]
            if parts[i + 2] == "residual_conv":
                parts[i + 2] = "shortcut"
            break
    return "/".join(parts)
