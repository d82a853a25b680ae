"""torchvision's names in GoogLeNet and Inception v3, and ours."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.torch_names import own_names

# what only training needs, and a network without `aux` does not have
GOOGLENET_AUX = ("aux1/", "aux2/")
INCEPTION_V3_AUX = ("aux/",)


def googlenet_names(arrays: Mapping[str, np.ndarray], *, aux: bool) -> dict[str, np.ndarray]:
    """The arrays of a file of torchvision by our names; without `aux`, the classifiers in the middle are left out.

    Those that have no place here keep their names.
    """
    if "conv1.conv.weight" not in arrays:
        return dict(arrays)
    # branch2.0 is branch2_0 here
    named = own_names(arrays, lambda module: re.sub(r"\.(branch\d)\.(\d)\.", r".\1_\2.", module).replace(".", "/"))
    return named if aux else _without(named, GOOGLENET_AUX)


def inception_v3_names(arrays: Mapping[str, np.ndarray], *, aux: bool) -> dict[str, np.ndarray]:
    """As `googlenet_names`, for Inception v3."""
    if "Conv2d_1a_3x3.conv.weight" not in arrays:
        return dict(arrays)
    named = own_names(arrays, _inception_v3_place)
    return named if aux else _without(named, INCEPTION_V3_AUX)


def _inception_v3_place(module: str) -> str:
    module = re.sub(r"^Conv2d_(\d[ab])_\dx\d", r"conv\1", module)
    module = re.sub(r"^Mixed_", "mixed", module)
    return re.sub(r"^AuxLogits", "aux", module).replace(".", "/")


def _without(arrays: Mapping[str, np.ndarray], prefixes: tuple[str, ...]) -> dict[str, np.ndarray]:
    return {name: array for name, array in arrays.items() if not name.startswith(prefixes)}
