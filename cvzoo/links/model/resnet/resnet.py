"""ResNets that classify photos."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.pretrained import pretrained_path
from cvzoo.links.model.resnet.block import Arch
from cvzoo.links.model.resnet.extractor import ResNetExtractor, Stem
from cvzoo.links.model.resnet.norm import Norm
from cvzoo.links.model.resnet.prepare import MEAN, STD, prepare_for_imagenet
from cvzoo.links.model.resnet.torchvision_names import from_torchvision, is_torchvision_resnet
from cvzoo.links.model.resnet.weights import WEIGHTS
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.resize import resize
from cvzoo.weights.sniff import read_arrays


class ResNet(AbstractClassifier):
    """Names what a photo shows.

    n_layer: 18, 34, 50, 101 or 152; also 10
    n_class: number of classes; None: as many as label_names, else 1000
    pretrained_model: "imagenet", "imagenet_v2" (from 50 layers on), or a path of a torchvision file or one that cvzoo
        saved; all of it must fit
    label_names: names of the classes
    base_channels, arch, stem, norm, eps: as in `ResNetExtractor`
    insize: side of the square that the network sees; None: 224, or 32 with the stem "cifar", which stretches photos
    short: short side of the resized photo, of which the middle is cut out; None: insize * 256 / 224
    Raises ValueRangeError if names and classes do not agree, or there are no such weights or settings;
    WeightsMismatchError if the file does not fit.

    Source: He et al., Deep Residual Learning for Image Recognition, CVPR 2016.
    """

    layer_names = ("conv1", "pool1", "res2", "res3", "res4", "res5", "pool5", "fc6")

    def __init__(
        self,
        n_layer: int,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        base_channels: int = 64,
        arch: Arch = "v1.5",
        stem: Stem = "photo",
        norm: Norm = "batch",
        eps: float = 1e-5,
        insize: int | None = None,
        short: int | None = None,
    ):
        if n_class is None:
            n_class = 1000 if label_names is None else len(label_names)
        if label_names is not None and len(label_names) != n_class:
            raise ValueRangeError("label_names must be one a class", expected=n_class, got=len(label_names))
        arrays = None
        if pretrained_model is not None:  # before the network is made: an unknown name is told at once
            arrays = read_arrays(pretrained_path(pretrained_model, WEIGHTS.get(n_layer, {})))
        self.n_class = n_class
        self.label_names = None if label_names is None else tuple(label_names)
        self.stem = stem
        self.insize = insize if insize is not None else 224 if stem == "photo" else 32
        if short is None:  # the newer recipe was measured with photos shrunk a little more
            short = round(self.insize * (232 if pretrained_model == "imagenet_v2" else 256) / 224)
        self.short = short
        self.settings = {
            "n_layer": n_layer,
            "n_class": n_class,
            "base_channels": base_channels,
            "arch": arch,
            "stem": stem,
            "norm": norm,
            "eps": eps,
            "insize": self.insize,
            "short": self.short,
        }
        with self.init_scope():
            self.extractor = ResNetExtractor(
                n_layer, base_channels=base_channels, arch=arch, stem=stem, norm=norm, eps=eps
            )
            self.fc = Linear(self.extractor.channels[-1], n_class)
        if arrays is not None:
            self.load_arrays(from_torchvision(arrays) if is_torchvision_resnet(arrays) else arrays)

    def prepare(self, img: np.ndarray) -> np.ndarray:
        """(3, insize, insize) float32, normalized: the middle of the photo, or all of it with the stem "cifar"."""
        if self.stem == "cifar":
            return normalize(resize(img, (self.insize, self.insize)), mean=MEAN, std=STD)
        return prepare_for_imagenet(img, short=self.short, crop=self.insize)

    def stages(self, x: Any) -> Iterator[tuple[str, Variable]]:
        """conv1, pool1, res2 to res5, pool5 (B, C), fc6: scores before the softmax, for x (B, 3, H, W), normalized."""
        h = None
        for name, h in self.extractor.stages(x):
            yield name, h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(h)
