"""timm's names in a MobileNetV3, and ours."""

from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.mobilenet_v3.rows import Plan
from cvzoo.links.model.timm_blocks import timm_places
from cvzoo.links.model.torch_names import own_names

TIMM_EPS = 1e-5  # of timm's normalizations; torchvision's have 1e-3
_COUNTS = {15: (1, 2, 3, 4, 2, 3), 11: (1, 2, 3, 2, 3)}  # all blocks -> blocks of each of timm's stages


def timm_mobilenet_v3_places(plan: Plan) -> dict[str, str]:
    """Our path of each module of timm's: there the last convolution is a block, and the hidden layer the head."""
    places = {"conv_stem": "extractor/stem/conv", "bn1": "extractor/stem/bn", "conv_head": "fc6", "classifier": "fc7"}
    counts = _COUNTS[len(plan.rows)]
    names = [f"blocks.{s}.{i}" for s, count in enumerate(counts) for i in range(count)]
    width = plan.stem
    for i, (name, row) in enumerate(zip(names, plan.rows)):
        block = name, f"extractor/blocks/{i}"
        places.update(timm_places(*block, expand=row.expanded != width, excite=row.excite))
        width = row.out_channels
    last = f"blocks.{len(counts)}.0"
    return {**places, f"{last}.conv": "extractor/last/conv", f"{last}.bn1": "extractor/last/bn"}


def from_timm(arrays: Mapping[str, np.ndarray], plan: Plan) -> dict[str, np.ndarray]:
    """The arrays of a classifier by our names; those that have no place here keep theirs."""
    head = arrays.get("conv_head.weight")
    if head is not None and head.ndim == 4:  # a convolution of one pixel is a matrix
        arrays = {**arrays, "conv_head.weight": head.reshape(head.shape[:2])}
    return own_names(arrays, timm_mobilenet_v3_places(plan).get)
