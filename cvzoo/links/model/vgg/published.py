"""The VGG networks of the paper, by name; those with BN have batch normalizations."""

from functools import partial

from cvzoo.links.model.variant import classifier_variant
from cvzoo.links.model.vgg.vgg import VGG

VGG11 = classifier_variant("VGG11", partial(VGG, 11), "A `VGG` of 11 layers")
VGG11BN = classifier_variant(
    "VGG11BN", partial(VGG, 11, norm="batch"), "A `VGG` of 11 layers with batch normalizations"
)
VGG13 = classifier_variant("VGG13", partial(VGG, 13), "A `VGG` of 13 layers")
VGG13BN = classifier_variant(
    "VGG13BN", partial(VGG, 13, norm="batch"), "A `VGG` of 13 layers with batch normalizations"
)
VGG16 = classifier_variant("VGG16", partial(VGG, 16), "A `VGG` of 16 layers")
VGG16BN = classifier_variant(
    "VGG16BN", partial(VGG, 16, norm="batch"), "A `VGG` of 16 layers with batch normalizations"
)
VGG19 = classifier_variant("VGG19", partial(VGG, 19), "A `VGG` of 19 layers")
VGG19BN = classifier_variant(
    "VGG19BN", partial(VGG, 19, norm="batch"), "A `VGG` of 19 layers with batch normalizations"
)
