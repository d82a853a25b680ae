"""The ConvNeXts of the paper, by name."""

from functools import partial

from cvzoo.links.model.convnext.convnext import ConvNeXt
from cvzoo.links.model.variant import classifier_variant

ConvNeXtTiny = classifier_variant("ConvNeXtTiny", partial(ConvNeXt, "tiny"), "A tiny `ConvNeXt`, 29 million parameters")
ConvNeXtSmall = classifier_variant(
    "ConvNeXtSmall", partial(ConvNeXt, "small"), "A small `ConvNeXt`, 50 million parameters"
)
ConvNeXtBase = classifier_variant(
    "ConvNeXtBase",
    partial(ConvNeXt, "base"),
    "A `ConvNeXt` of the paper's base size, 89 million parameters",
)
ConvNeXtLarge = classifier_variant(
    "ConvNeXtLarge", partial(ConvNeXt, "large"), "A large `ConvNeXt`, 198 million parameters"
)
