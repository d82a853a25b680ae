"""Records of timm's files, whose names carry the first digits of their hash; its names in blocks of mobile networks."""

import math
from collections.abc import Iterator

from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.publishers.imagenet import imagenet_classifier

_RELEASES = "https://github.com/rwightman/pytorch-image-models/releases/download/"


def timm_classifier(
    name: str,
    file: str,
    top1: float,
    top5: float,
    *,
    model: str,
    crop: int = 224,
) -> ClassWeights:
    """The record of an ImageNet classifier, and its preprocessing.

    name: of the record, unique in the zoo
    file: of timm's releases, such as "v0.1-weights/efficientnet_b0_ra-3dd342df.pth"
    top1, top5: percent, of one crop, as published
    model: timm's name of it, such as "efficientnet_b0.ra_in1k"
    crop: side of the center crop, 7/8 of the short side
    """
    preparation = CenterCrop(math.floor(crop / 0.875), crop, "bicubic")
    source = f"timm, {model}"
    return imagenet_classifier(
        name, _RELEASES + file, top1, top5, source=source, licence="Apache-2.0", preparation=preparation
    )


TIMM_MARKS = ("conv_stem.weight",)
TIMM_AROUND = {
    "conv_stem": "extractor/stem/conv",
    "bn1": "extractor/stem/bn",
    "conv_head": "extractor/last/conv",
    "bn2": "extractor/last/bn",
    "classifier": "fc",
}
_ROLES = {
    True: (("conv_pw", "bn1", "expand"), ("conv_dw", "bn2", "depthwise"), ("conv_pwl", "bn3", "project")),
    False: (("conv_dw", "bn1", "depthwise"), ("conv_pw", "bn2", "project")),
}


def timm_places(theirs: str, ours: str, *, expand: bool, excite: bool) -> Iterator[tuple[str, str]]:
    """(timm's name of a module, cvzoo's path) of an `InvertedResidual`.

    theirs, ours: of the block, such as "blocks.2.0" and "extractor/blocks/3"
    """
    for conv, norm, role in _ROLES[expand]:
        yield f"{theirs}.{conv}", f"{ours}/{role}/conv"
        yield f"{theirs}.{norm}", f"{ours}/{role}/bn"
    if excite:
        yield f"{theirs}.se.conv_reduce", f"{ours}/se/fc1"
        yield f"{theirs}.se.conv_expand", f"{ours}/se/fc2"
