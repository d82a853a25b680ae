"""gluon-cv's names in a PSPNet, and ours."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.deeplab.gluon_names import from_gluon

# our names in a DeepLab -> those in a PSPNet
_WORDS = (
    (r"^backbone/layers/", "extractor/"),
    (r"^head/ppm/", "ppm/"),
    (r"^head/conv/", "head_conv1/"),
    (r"^head/out/", "head_conv2/"),
    (r"^aux/conv/", "aux_conv1/"),
    (r"^aux/out/", "aux_conv2/"),
)


def is_gluon_pspnet(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of gluon-cv's PSPNets."""
    return "head.psp.conv1.0.weight" in arrays


def from_gluon_pspnet(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those that have no place here keep theirs."""
    named = {}
    for name, array in from_gluon(arrays).items():
        for pattern, ours in _WORDS:
            name = re.sub(pattern, ours, name)
        named[name] = array
    return named
