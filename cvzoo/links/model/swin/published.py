"""The Swin Transformers of the two papers, by name."""

from functools import partial

from cvzoo.links.model.swin.swin import SwinTransformer
from cvzoo.links.model.variant import classifier_variant

SwinT = classifier_variant(
    "SwinT",
    partial(SwinTransformer, "t"),
    "The first paper's tiny `SwinTransformer`, 28 million parameters",
)
SwinS = classifier_variant(
    "SwinS",
    partial(SwinTransformer, "s"),
    "The first paper's small `SwinTransformer`, 50 million parameters",
)
SwinB = classifier_variant(
    "SwinB",
    partial(SwinTransformer, "b"),
    "The first paper's base `SwinTransformer`, 88 million parameters",
)
SwinV2T = classifier_variant(
    "SwinV2T",
    partial(SwinTransformer, "v2_t"),
    "The second paper's tiny `SwinTransformer`, 28 million parameters",
)
SwinV2S = classifier_variant(
    "SwinV2S",
    partial(SwinTransformer, "v2_s"),
    "The second paper's small `SwinTransformer`, 50 million parameters",
)
SwinV2B = classifier_variant(
    "SwinV2B",
    partial(SwinTransformer, "v2_b"),
    "The second paper's base `SwinTransformer`, 88 million parameters",
)
