"""Dilated classification backbones of semantic segmentation networks."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Literal

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, short_side_field, width_field
from cvzoo.links.model.mobilenet_v3.extractor import MobileNetV3Extractor, network_plan
from cvzoo.links.model.mobilenet_v3.weights import WEIGHTS as MOBILENET_V3_WEIGHTS
from cvzoo.links.model.mobilenet_v3.weights import extractor_places
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.pretrained.source import PretrainedFile, read_pretrained
from cvzoo.links.model.resnet.extractor import ResNetExtractor, Stem
from cvzoo.links.model.resnet.weights import WEIGHTS as RESNET_WEIGHTS
from cvzoo.links.model.resnet.weights import resnet_place
from cvzoo.typing.aliases import Array
from cvzoo.weights.record import Weights

Backbone = Literal["resnet18", "resnet50", "resnet101", "resnet50s", "resnet101s", "mobilenet_v3_large"]

# name -> layers of a ResNet, its stem
_RESNETS: dict[str, tuple[int, Stem]] = {
    "resnet18": (18, "photo"),
    "resnet50": (50, "photo"),
    "resnet101": (101, "photo"),
    "resnet50s": (50, "deep"),
    "resnet101s": (101, "deep"),
}
# published with heads whose logits are upsampled with aligned corners
ALIGNED_BACKBONES = ("resnet50s", "resnet101s")
# torchvision's classifiers from whose files a backbone can be initialized
_CLASSIFIERS = ("imagenet", "imagenet_v2")


@dataclasses.dataclass(frozen=True, kw_only=True)
class DenseSegmenterConfig(AbstractConfig):
    """What an FCN or a DeepLabV3 is built from; its fields are the constructors' arguments."""

    backbone: Backbone = config_field(help="the classifier that it stands on, see DenseBackbone")
    n_class: int = classes_field()
    width: float = width_field()
    short: int = short_side_field()


class DenseBackbone(Chain):
    """A dilated backbone for segmentation: an intermediate feature map, for an auxiliary head, and the last.

    kind: "resnet18", "resnet50", "resnet101": maps of stride 8, the intermediate one is the third stage's;
        "resnet50s", "resnet101s": with three 3 x 3 convolutions as the stem; "mobilenet_v3_large": of strides 8 and 16
    width: multiplier of all channels

    `channels` are those of the two maps.
    Raises ValueRangeError for an unknown kind.
    """

    def __init__(self, kind: Backbone, *, width: float = 1.0):
        if kind == "mobilenet_v3_large":
            layers: MobileNetV3Extractor | ResNetExtractor = MobileNetV3Extractor("large", width=width, dilated=True)
            self.places = 4, 16  # the last layer of stride 8 that begins a stage; the last of all
        elif kind in _RESNETS:
            n_layer, stem = _RESNETS[kind]
            width_of_stem = max(1, int(64 * width))
            layers = ResNetExtractor(n_layer, base_channels=width_of_stem, stem=stem, dilations=(1, 1, 2, 4))
            self.places = 2, 3
        else:
            known = ", ".join(map(repr, (*_RESNETS, "mobilenet_v3_large")))
            raise ValueRangeError("there is no such backbone", expected=known, got=repr(kind))
        self.channels = tuple(layers.channels[i] for i in self.places)
        with self.init_scope():
            self.layers = layers

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """(B, channels[0], ...) and (B, channels[1], ...) of x (B, 3, H, W)."""
        maps = self.layers(x)
        return maps[self.places[0]], maps[self.places[1]]


def backbone_records(kind: str) -> dict[str, Weights]:
    """The files of classifiers from which a `DenseBackbone` can be initialized, by name."""
    if kind in _RESNETS and _RESNETS[kind][1] == "photo":
        known = RESNET_WEIGHTS[_RESNETS[kind][0]]
    elif kind == "mobilenet_v3_large":
        known = {name: each.record for name, each in MOBILENET_V3_WEIGHTS["large"].items()}
    else:
        known = {}
    return {name: known[name] for name in _CLASSIFIERS if name in known}


def read_backbone(kind: str, pretrained_model: str | os.PathLike | None) -> PretrainedFile | None:
    """The file from which a `DenseBackbone` is initialized, None if pretrained_model is not the name of a classifier.

    Raises DownloadError if the file cannot be downloaded.
    """
    records = backbone_records(kind)
    if not isinstance(pretrained_model, str) or pretrained_model not in records:
        return None
    return read_pretrained(pretrained_model, records, backbone_names(kind))


def backbone_names(kind: str) -> Mapping[str, Names]:
    """torchvision's names in a classifier without its last layers, and cvzoo's in a `DenseBackbone`."""
    if kind == "mobilenet_v3_large":
        modules = extractor_places(network_plan("large", dilated=True), ours="layers")
        return {"torchvision": Names(marks=(), modules=modules, drop=("classifier.",))}

    def place_of(module: str) -> str | None:
        place = resnet_place(module)
        return None if place is None else place.replace("extractor/", "layers/", 1)

    return {"torchvision": Names(marks=(), modules=place_of, drop=("fc/",))}
