"""torchvision's names in an LRASPP, and ours."""

from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.mobilenet_v3.rows import network_plan
from cvzoo.links.model.mobilenet_v3.torchvision_names import extractor_places
from cvzoo.links.model.torch_names import own_names

_HEAD = {
    "classifier.cbr.0": "head/conv/conv",
    "classifier.cbr.1": "head/conv/bn",
    "classifier.scale.1": "head/gate",
    "classifier.low_classifier": "head/low",
    "classifier.high_classifier": "head/high",
}


def from_torchvision(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names; those that have no place here keep theirs."""
    backbone = extractor_places(network_plan("large", dilated=True), theirs="backbone", ours="backbone")
    return own_names(arrays, {**backbone, **_HEAD}.get)
