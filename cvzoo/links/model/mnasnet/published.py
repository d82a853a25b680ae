"""The MNASNets of torchvision, by name."""

from functools import partial

from cvzoo.links.model.mnasnet.mnasnet import MNASNet
from cvzoo.links.model.variant import classifier_variant

MNASNet0_5 = classifier_variant("MNASNet0_5", partial(MNASNet, 0.5), "An `MNASNet` of width 0.5")
MNASNet0_75 = classifier_variant("MNASNet0_75", partial(MNASNet, 0.75), "An `MNASNet` of width 0.75")
MNASNet1_0 = classifier_variant("MNASNet1_0", partial(MNASNet, 1.0), "An `MNASNet` of width 1.0")
MNASNet1_3 = classifier_variant("MNASNet1_3", partial(MNASNet, 1.3), "An `MNASNet` of width 1.3")
