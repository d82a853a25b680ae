"""Published weights of the VGG networks: (layers, norm), then the name that a user gives.

torchvision's and ChainerCV's names in a VGG network, and cvzoo's.
"""

from collections.abc import Mapping
from typing import Literal

from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.chainercv import chainercv_classifier
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.links.model.vgg.extractor import DEPTHS
from cvzoo.weights.record import Signature

# Caffe's networks take values of 0 to 255 less the mean of each channel
CAFFE_PREPARATION = CenterCrop(mean=(123.68 / 255, 116.779 / 255, 103.939 / 255), std=(1 / 255, 1 / 255, 1 / 255))


def torchvision_places(n_layer: int, *, norm: bool) -> dict[str, str]:
    """torchvision's names of modules -> our paths."""
    places, i = {}, 0
    for stage, count in enumerate(DEPTHS.get(n_layer, ())):
        for k in range(count):
            ours = f"extractor/conv{stage + 1}_{k + 1}"
            places[f"features.{i}"] = f"{ours}/conv"
            if norm:
                places[f"features.{i + 1}"] = f"{ours}/bn"
            i += 3 if norm else 2
        i += 1  # the pooling
    return places | {"classifier.0": "fc6", "classifier.3": "fc7", "classifier.6": "fc8"}


def vgg_names(n_layer: int, norm: str | None) -> Mapping[str, Names]:
    """Publisher -> its array names in a network of n_layer layers, with batch normalization or without."""
    return {
        "chainercv": Names(
            marks=("conv1_1/conv/W",), rules=[("^conv", "extractor/conv")], preparation=CAFFE_PREPARATION
        ),
        "torchvision": Names(marks=("features.0.weight",), modules=torchvision_places(n_layer, norm=norm is not None)),
    }


def _torchvision(
    n_layer: int, norm: str | None, digits: str, top1: float, top5: float, mib: float, signature: Signature
) -> dict[str, ClassWeights]:
    bn = "" if norm is None else "_bn"
    file = f"vgg{n_layer}{bn}-{digits}.pth"
    enum = f"VGG{n_layer}{bn.upper()}_Weights.IMAGENET1K_V1"
    name = f"vgg{n_layer}{bn}_imagenet"
    return {"imagenet": torchvision_classifier(name, file, top1, top5, enum=enum, mib=mib, signature=signature)}


_CAFFE = chainercv_classifier(
    "vgg16_imagenet_caffe",
    "vgg16_imagenet_converted_2017_07_18.npz",
    71,
    source="the paper's authors, converted by ChainerCV",
    preparation=CAFFE_PREPARATION,
)

WEIGHTS: dict[tuple[int, Literal["batch"] | None], dict[str, ClassWeights]] = {
    (11, None): _torchvision(
        11, None, "8a719046", 69.02, 88.628, 506.84, Signature(22, "features.18.weight", (512, 512, 3, 3))
    ),
    (11, "batch"): _torchvision(
        11, "batch", "6002323d", 70.37, 89.81, 506.881, Signature(54, "features.25.weight", (512, 512, 3, 3))
    ),
    (13, None): _torchvision(
        13, None, "19584684", 69.928, 89.246, 507.545, Signature(26, "features.22.weight", (512, 512, 3, 3))
    ),
    (13, "batch"): _torchvision(
        13, "batch", "abd245e5", 71.586, 90.374, 507.59, Signature(66, "features.31.weight", (512, 512, 3, 3))
    ),
    (16, None): {
        **_torchvision(
            16, None, "397923af", 71.592, 90.382, 527.796, Signature(32, "features.28.weight", (512, 512, 3, 3))
        ),
        "imagenet_caffe": _CAFFE,
    },
    (16, "batch"): _torchvision(
        16, "batch", "6c64b313", 73.36, 91.516, 527.866, Signature(84, "features.40.weight", (512, 512, 3, 3))
    ),
    (19, None): _torchvision(
        19, None, "dcbb9e9d", 72.376, 90.876, 548.051, Signature(38, "features.34.weight", (512, 512, 3, 3))
    ),
    (19, "batch"): _torchvision(
        19, "batch", "c79401a0", 74.218, 91.842, 548.143, Signature(102, "features.0.weight", (64, 3, 3, 3))
    ),
}
