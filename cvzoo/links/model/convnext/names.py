"""A ConvNeXt's arrays by our names, whoever named them."""

from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.convnext.maker_names import from_maker, is_maker_s
from cvzoo.links.model.convnext.torchvision_names import from_torchvision


def convnext_names(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """From torchvision's names, the makers', timm's or our own; what has no place keeps its name."""
    return from_maker(arrays) if is_maker_s(arrays) else from_torchvision(arrays)
