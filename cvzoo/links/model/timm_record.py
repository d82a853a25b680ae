"""Records of timm's files: their names carry the first digits of their hash."""

import math

from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.weights.record import Weights

_RELEASES = "https://github.com/rwightman/pytorch-image-models/releases/download/"


def timm_classifier(
    name: str,
    file: str,
    top1: float,
    top5: float,
    *,
    model: str,
    crop: int = 224,
    crop_part: float = 0.875,
    interpolation: str = "bicubic",
    licence: str = "Apache-2.0",
) -> ClassWeights:
    """The record of a classifier of ImageNet, and how it sees a photo.

    name: of the record, unique in the zoo
    file: of timm's releases, such as "v0.1-weights/efficientnet_b0_ra-3dd342df.pth"
    top1, top5: per cent, of one crop, as the publisher says
    model: timm's name of it, such as "efficientnet_b0.ra_in1k"
    crop, crop_part: the side of the square that is cut out, and by how much of the short side that is
    """
    preparation = CenterCrop(math.floor(crop / crop_part), crop, interpolation)
    record = Weights(
        name=name,
        url=_RELEASES + file,
        sha256=None,
        licence=licence,
        data="ImageNet-1K, ILSVRC 2012 training photos",
        data_licence="ImageNet terms of access: research, no commercial use",
        score={"top1": round(top1 / 100, 5), "top5": round(top5 / 100, 5)},
        source=f"timm, {model}",
        label_names=imagenet_label_names,
        preprocessing=preparation.describe(),
    )
    return ClassWeights(record, preparation)
