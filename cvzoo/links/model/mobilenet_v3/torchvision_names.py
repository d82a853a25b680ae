"""torchvision's names in a MobileNetV3, and ours."""

from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.inverted_residual import sequential_places
from cvzoo.links.model.mobilenet_v3.rows import Plan
from cvzoo.links.model.torch_names import own_names


def extractor_places(plan: Plan, *, theirs: str = "features", ours: str = "extractor") -> dict[str, str]:
    """Our path of each module of the convolutions, by torchvision's name.

    theirs: what torchvision calls the list of layers: "features", or "backbone" or "backbone.body" in other models
    ours: the path of the `MobileNetV3Extractor`
    """
    places = {f"{theirs}.0.0": f"{ours}/stem/conv", f"{theirs}.0.1": f"{ours}/stem/bn"}
    width = plan.stem
    for i, row in enumerate(plan.rows):
        block = f"{theirs}.{i + 1}.block", f"{ours}/blocks/{i}"
        places.update(sequential_places(*block, expand=row.expanded != width, excite=row.excite))
        width = row.out_channels
    last = len(plan.rows) + 1
    places.update({f"{theirs}.{last}.0": f"{ours}/last/conv", f"{theirs}.{last}.1": f"{ours}/last/bn"})
    return places


def from_torchvision(arrays: Mapping[str, np.ndarray], plan: Plan) -> dict[str, np.ndarray]:
    """The arrays of a classifier by our names; those that have no place here keep theirs."""
    places = {**extractor_places(plan), "classifier.0": "fc6", "classifier.3": "fc7"}
    return own_names(arrays, places.get)
