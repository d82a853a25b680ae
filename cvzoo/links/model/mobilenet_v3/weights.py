"""Published weights of MobileNetV3: the size, then the name that a user gives.

torchvision's and timm's names in a MobileNetV3, and cvzoo's.
"""

from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.inverted_residual import sequential_places
from cvzoo.links.model.mobilenet_v3.extractor import MobileNetV3Dimensions
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.timm import TIMM_MARKS, timm_classifier, timm_places
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature

TIMM_EPS = 1e-5  # of timm's normalizations; torchvision's have 1e-3
_COUNTS = {15: (1, 2, 3, 4, 2, 3), 11: (1, 2, 3, 2, 3)}  # all blocks -> blocks of each of timm's stages


def extractor_places(
    plan: MobileNetV3Dimensions, *, theirs: str = "features", ours: str = "extractor"
) -> dict[str, str]:
    """cvzoo's path of each module of the backbone, by torchvision's name.

    theirs: torchvision's name of the list of layers: "features", or "backbone" or "backbone.body" in other models
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


def timm_mobilenet_v3_places(plan: MobileNetV3Dimensions) -> dict[str, str]:
    """cvzoo's path of each module of timm's, where the last convolution is a block and the hidden layer the head."""
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


def mobilenet_v3_names(plan: MobileNetV3Dimensions) -> Mapping[str, Names]:
    """Publisher -> its array names in a network of this plan."""
    return {
        "timm": Names(marks=TIMM_MARKS, modules=timm_mobilenet_v3_places(plan), values=[("fc6/W", _as_matrix)]),
        "torchvision": Names(
            marks=(), modules={**extractor_places(plan), "classifier.0": "fc6", "classifier.3": "fc7"}
        ),
    }


def _as_matrix(array: np.ndarray) -> np.ndarray:
    """A 1 x 1 convolution's weights as a matrix."""
    return array.reshape(array.shape[:2]) if array.ndim == 4 else array


_LARGE = Signature(266, "features.16.0.weight", (960, 160, 1, 1))

WEIGHTS = {
    "large": {
        "imagenet": torchvision_classifier(
            "mobilenet_v3_large_imagenet",
            "mobilenet_v3_large-8738ca79.pth",
            74.042,
            91.34,
            enum="MobileNet_V3_Large_Weights.IMAGENET1K_V1",
            mib=21.114,
            signature=_LARGE,
        ),
        "imagenet_v2": torchvision_classifier(
            "mobilenet_v3_large_imagenet_v2",
            "mobilenet_v3_large-5c1a4163.pth",
            75.274,
            92.566,
            enum="MobileNet_V3_Large_Weights.IMAGENET1K_V2",
            short=232,
            mib=21.107,
            signature=_LARGE,
        ),
        "imagenet_timm": timm_classifier(
            "mobilenet_v3_large_imagenet_timm",
            "v0.1-weights/mobilenetv3_large_100_ra-f55367f5.pth",
            75.784,
            92.528,
            model="mobilenetv3_large_100.ra_in1k",
        ),
    },
    "small": {
        "imagenet": torchvision_classifier(
            "mobilenet_v3_small_imagenet",
            "mobilenet_v3_small-047dcff4.pth",
            67.668,
            87.402,
            enum="MobileNet_V3_Small_Weights.IMAGENET1K_V1",
            mib=9.829,
            signature=Signature(210, "features.12.0.weight", (576, 96, 1, 1)),
        ),
        "imagenet_timm": timm_classifier(
            "mobilenet_v3_small_imagenet_timm",
            "v0.1-weights/mobilenetv3_small_100_lamb-266a294c.pth",
            67.636,
            87.638,
            model="mobilenetv3_small_100.lamb_in1k",
        ),
    },
}
