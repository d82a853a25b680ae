"""A Swin Transformer's arrays by our names, whoever named them."""

from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.swin.maker_names import from_maker, is_maker_s
from cvzoo.links.model.swin.torchvision_names import from_torchvision


def swin_names(arrays: Mapping[str, np.ndarray], window: int) -> dict[str, np.ndarray]:
    """From torchvision's names, the makers', timm's or our own; what has no place keeps its name.

    window: the side of the network's windows
    """
    return from_maker(arrays, window) if is_maker_s(arrays) else from_torchvision(arrays, window)
