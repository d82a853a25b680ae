"""Arrays of files of VGG networks by our names, whoever made the file."""

from collections.abc import Mapping

import numpy as np

from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.torch_names import own_names
from cvzoo.links.model.vgg.extractor import DEPTHS

# Caffe's networks see 0 to 255, and the mean of each channel is taken off
CAFFE_PREPARATION = PhotoPreparation(mean=(123.68 / 255, 116.779 / 255, 103.939 / 255), std=(1 / 255,) * 3)


def torchvision_places(n_layer: int, *, norm: bool) -> dict[str, str]:
    """torchvision's names of modules -> our paths."""
    places, i = {}, 0
    for stage, count in enumerate(DEPTHS[n_layer]):
        for k in range(count):
            ours = f"extractor/conv{stage + 1}_{k + 1}"
            places[f"features.{i}"] = f"{ours}/conv"
            if norm:
                places[f"features.{i + 1}"] = f"{ours}/bn"
            i += 3 if norm else 2
        i += 1  # the pooling
    return places | {"classifier.0": "fc6", "classifier.3": "fc7", "classifier.6": "fc8"}


class VGGFile:
    """Called with the arrays of a file, it gives them by our names, and knows then how their maker prepared photos.

    n_layer, norm: of the network that they are for
    """

    def __init__(self, n_layer: int, norm: str | None):
        self.n_layer = n_layer
        self.norm = norm
        self.preparation = PhotoPreparation()

    def __call__(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        if "conv1_1/conv/W" in arrays:  # ChainerCV's
            self.preparation = CAFFE_PREPARATION
            return {f"extractor/{name}" if name.startswith("conv") else name: each for name, each in arrays.items()}
        if "features.0.weight" not in arrays or self.n_layer not in DEPTHS:
            return dict(arrays)
        return own_names(arrays, torchvision_places(self.n_layer, norm=self.norm is not None).get)
