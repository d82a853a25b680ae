"""The MobileNetV3s of the paper, by name."""

from functools import partial

from cvzoo.links.model.mobilenet_v3.mobilenet_v3 import MobileNetV3
from cvzoo.links.model.variant import classifier_variant

MobileNetV3Large = classifier_variant("MobileNetV3Large", partial(MobileNetV3, "large"), "A large `MobileNetV3`")
MobileNetV3Small = classifier_variant("MobileNetV3Small", partial(MobileNetV3, "small"), "A small `MobileNetV3`")
