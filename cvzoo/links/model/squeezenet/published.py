"""The SqueezeNets, by name."""

from functools import partial

from cvzoo.links.model.squeezenet.squeezenet import SqueezeNet
from cvzoo.links.model.variant import classifier_variant

SqueezeNet1_0 = classifier_variant("SqueezeNet1_0", partial(SqueezeNet, "1.0"), "A `SqueezeNet` of version 1.0")
SqueezeNet1_1 = classifier_variant("SqueezeNet1_1", partial(SqueezeNet, "1.1"), "A `SqueezeNet` of version 1.1")
