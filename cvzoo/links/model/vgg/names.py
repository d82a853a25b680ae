"""torchvision's and ChainerCV's names in a VGG network, and ours."""

from collections.abc import Mapping

from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.vgg.extractor import DEPTHS

# Caffe's networks see 0 to 255, and the mean of each channel is taken off
CAFFE_PREPARATION = CenterCrop(mean=(123.68 / 255, 116.779 / 255, 103.939 / 255), std=(1 / 255,) * 3)


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
    """Publisher -> its names in a network of so many layers, with normalizations or without."""
    return {
        "chainercv": Names(
            marks=("conv1_1/conv/W",), rules=[("^conv", "extractor/conv")], preparation=CAFFE_PREPARATION
        ),
        "torchvision": Names(marks=("features.0.weight",), modules=torchvision_places(n_layer, norm=norm is not None)),
    }
