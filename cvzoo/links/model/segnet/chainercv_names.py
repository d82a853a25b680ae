"""ChainerCV's names in a SegNet, and ours: its normalizations lie beside their convolutions, ours inside of layers."""

import re
from collections.abc import Mapping

import numpy as np


def from_chainercv(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those of another file keep theirs."""
    named = {}
    for name, array in arrays.items():
        name = re.sub(r"^(conv\d|conv_decode\d)/W$", r"\1/conv/W", name)
        named[re.sub(r"^(conv\d|conv_decode\d)_bn/", r"\1/bn/", name)] = array
    return named
