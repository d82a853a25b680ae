"""The EfficientNets of the papers, by name."""

from functools import partial

from cvzoo.links.model.efficientnet.efficientnet import EfficientNet
from cvzoo.links.model.variant import classifier_variant

EfficientNetB0 = classifier_variant("EfficientNetB0", partial(EfficientNet, "b0"), "An `EfficientNet` B0")
EfficientNetB1 = classifier_variant("EfficientNetB1", partial(EfficientNet, "b1"), "An `EfficientNet` B1")
EfficientNetB2 = classifier_variant("EfficientNetB2", partial(EfficientNet, "b2"), "An `EfficientNet` B2")
EfficientNetB3 = classifier_variant("EfficientNetB3", partial(EfficientNet, "b3"), "An `EfficientNet` B3")
EfficientNetB4 = classifier_variant("EfficientNetB4", partial(EfficientNet, "b4"), "An `EfficientNet` B4")
EfficientNetB5 = classifier_variant("EfficientNetB5", partial(EfficientNet, "b5"), "An `EfficientNet` B5")
EfficientNetB6 = classifier_variant("EfficientNetB6", partial(EfficientNet, "b6"), "An `EfficientNet` B6")
EfficientNetB7 = classifier_variant("EfficientNetB7", partial(EfficientNet, "b7"), "An `EfficientNet` B7")
EfficientNetV2S = classifier_variant("EfficientNetV2S", partial(EfficientNet, "v2_s"), "An `EfficientNet` V2-S")
EfficientNetV2M = classifier_variant("EfficientNetV2M", partial(EfficientNet, "v2_m"), "An `EfficientNet` V2-M")
EfficientNetV2L = classifier_variant("EfficientNetV2L", partial(EfficientNet, "v2_l"), "An `EfficientNet` V2-L")
