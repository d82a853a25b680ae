"""Arrays of files of ResNets by our names, and what their makers built otherwise."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.resnet.block import Arch
from cvzoo.links.model.resnet.extractor import Pool
from cvzoo.links.model.resnet.torchvision_names import from_torchvision, is_torchvision_resnet

# Caffe's networks see 0 to 255, and the mean of each channel is taken off
CAFFE_PREPARATION = PhotoPreparation(mean=(123.15163 / 255, 115.90288 / 255, 103.06262 / 255), std=(1 / 255,) * 3)


class Layout(NamedTuple):
    """What files of one maker need that their arrays' shapes do not show.

    arch, pool, eps: as in `ResNetExtractor`
    preparation: how photos are seen
    """

    arch: Arch = "v1.5"
    pool: Pool = "padded"
    eps: float = 1e-5
    preparation: PhotoPreparation = PhotoPreparation()


def usual_layout(*, groups: int, se: int) -> Layout:
    """torchvision's, but that of the paper for gated networks: SE-ResNets came with Caffe's pooling and strides."""
    if not se:
        return Layout()
    return Layout("he" if groups == 1 else "v1.5", "cover")


class ResNetFile:
    """Called with the arrays of a file, it gives them by our names, and knows then how the network was built.

    groups, se: of the network that they are for; `layout` is the usual one before a file was seen
    """

    def __init__(self, *, groups: int = 1, se: int = 0):
        self._usual = self.layout = usual_layout(groups=groups, se=se)

    def __call__(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        if "res2/a/conv1/conv/W" in arrays:
            is_he = self._usual.arch == "he" or "conv1/conv/b" in arrays
            self.layout = Layout("he" if is_he else "v1.5", "cover", 2e-5, CAFFE_PREPARATION)
            return from_chainercv(arrays)
        if "layer0.conv1.weight" in arrays:  # the first port of the gated networks to torch
            self.layout = self._usual
            return _gates_as_rows(from_torchvision(arrays))
        if is_torchvision_resnet(arrays):  # and timm's, which have gates too
            self.layout = Layout()
            return _gates_as_rows(from_torchvision(arrays))
        return dict(arrays)


def from_chainercv(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of ChainerCV's ResNets and SE-ResNets by our names.

    Where the first convolution has a bias, it is taken off the mean of the normalization behind, which is the same.
    """
    named = {}
    for name, array in arrays.items():
        match = re.fullmatch(r"(res[2-5])/(a|b\d+)/(.+)", name)
        if match:
            stage, block, rest = match.groups()
            rest = re.sub("^residual_conv/", "shortcut/", rest)
            named[f"extractor/{stage}/{0 if block == 'a' else int(block[1:])}/{rest}"] = array
        elif name.startswith("conv1/"):
            named[f"extractor/{name}"] = array
        else:
            named[re.sub("^fc6/", "fc/", name)] = array
    mean = "extractor/conv1/bn/avg_mean"
    if mean in named and "extractor/conv1/conv/b" in named:
        named[mean] = named[mean] - named.pop("extractor/conv1/conv/b")
    return named


def _gates_as_rows(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Gates that torch's files have as convolutions of 1 x 1 are rows here."""
    return {
        name: array[:, :, 0, 0] if "/se/" in name and array.ndim == 4 and array.shape[2:] == (1, 1) else array
        for name, array in arrays.items()
    }
