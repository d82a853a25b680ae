"""Networks made for classification, as segmenters see through them: dilated, so that their last maps stay large."""

from typing import Any, Literal

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain
from cvzoo.links.model.mobilenet_v3.extractor import MobileNetV3Extractor
from cvzoo.links.model.resnet.extractor import ResNetExtractor

Backbone = Literal["resnet50", "resnet101", "mobilenet_v3_large"]

# name -> layers of a ResNet
_RESNETS = {"resnet50": 50, "resnet101": 101}


class DenseBackbone(Chain):
    """Two maps of a photo: a middle one, for an auxiliary head, and the last.

    kind: "resnet50", "resnet101": the maps are of stride 8, the middle one is the third stage's;
        "mobilenet_v3_large": of stride 8 and 16
    width: all channels times this

    `channels` are those of the two maps.
    Raises ValueRangeError for another kind.
    """

    def __init__(self, kind: Backbone, *, width: float = 1.0):
        if kind == "mobilenet_v3_large":
            layers = MobileNetV3Extractor("large", width=width, dilated=True)
            self.places = 4, 16  # the last layer of stride 8 that begins a stage; the last of all
        elif kind in _RESNETS:
            layers = ResNetExtractor(_RESNETS[kind], base_channels=max(1, int(64 * width)), dilations=(1, 1, 2, 4))
            self.places = 2, 3
        else:
            known = ", ".join(map(repr, (*_RESNETS, "mobilenet_v3_large")))
            raise ValueRangeError("there is no such backbone", expected=known, got=repr(kind))
        self.channels = tuple(layers.channels[i] for i in self.places)
        with self.init_scope():
            self.layers = layers

    def forward(self, x: Any) -> tuple[Variable, Variable]:
        """(B, channels[0], ...) and (B, channels[1], ...) of x (B, 3, H, W)."""
        maps = self.layers(x)
        return maps[self.places[0]], maps[self.places[1]]
