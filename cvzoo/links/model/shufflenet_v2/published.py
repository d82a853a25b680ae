"""The ShuffleNetV2s of the paper, by name."""

from functools import partial

from cvzoo.links.model.shufflenet_v2.shufflenet_v2 import ShuffleNetV2
from cvzoo.links.model.variant import classifier_variant

ShuffleNetV2X0_5 = classifier_variant("ShuffleNetV2X0_5", partial(ShuffleNetV2, 0.5), "A `ShuffleNetV2` of width 0.5")
ShuffleNetV2X1_0 = classifier_variant("ShuffleNetV2X1_0", partial(ShuffleNetV2, 1.0), "A `ShuffleNetV2` of width 1.0")
ShuffleNetV2X1_5 = classifier_variant("ShuffleNetV2X1_5", partial(ShuffleNetV2, 1.5), "A `ShuffleNetV2` of width 1.5")
ShuffleNetV2X2_0 = classifier_variant("ShuffleNetV2X2_0", partial(ShuffleNetV2, 2.0), "A `ShuffleNetV2` of width 2.0")
