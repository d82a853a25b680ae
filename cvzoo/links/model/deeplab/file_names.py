"""Arrays of anybody's file of a DeepLabV3 or an FCN by our names."""

from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.deeplab.gluon_names import from_gluon, is_gluon
from cvzoo.links.model.deeplab.torchvision_names import from_torchvision


def own_names(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """gluon-cv's or torchvision's arrays by our names; those of another file keep theirs."""
    return from_gluon(arrays) if is_gluon(arrays) else from_torchvision(arrays)
