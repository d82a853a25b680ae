"""Records of torchvision's files: their names carry the first digits of their hash, and nothing else is published."""

from collections.abc import Mapping

from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.model.preparation.abstract import Three
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.torchvision_sizes import MIB
from cvzoo.weights.record import Weights

_SITE = "https://download.pytorch.org/models/"
_LICENCE = "not stated; the code is BSD-3-Clause"


def about_size(file: str) -> int | None:
    """Bytes, to about a thousand, of one of torchvision's files; None if it is not listed."""
    return round(MIB[file] * 2**20) if file in MIB else None


def torchvision_classifier(
    name: str,
    file: str,
    top1: float,
    top5: float,
    *,
    enum: str,
    short: int = 256,
    crop: int = 224,
    interpolation: str = "bilinear",
    mean: Three = (0.485, 0.456, 0.406),
    std: Three = (0.229, 0.224, 0.225),
    licence: str = _LICENCE,
    data: str = "ImageNet-1K, ILSVRC 2012 training photos",
) -> ClassWeights:
    """The record of a classifier of ImageNet, and how it sees a photo.

    name: of the record, unique in the zoo
    file: on torchvision's site, such as "resnet18-f37072fd.pth"
    top1, top5: per cent, of one crop, as the publisher says
    enum: torchvision's name of it, such as "ResNet18_Weights.IMAGENET1K_V1"
    """
    preparation = CenterCrop(short, crop, interpolation, mean, std)
    record = Weights(
        name=name,
        url=_SITE + file,
        sha256=None,
        about_size=about_size(file),
        licence=licence,
        data=data,
        data_licence="ImageNet terms of access: research, no commercial use",
        score={"top1": round(top1 / 100, 5), "top5": round(top5 / 100, 5)},
        source=f"torchvision, {enum}",
        label_names=imagenet_label_names,
        preprocessing=preparation.describe(),
    )
    return ClassWeights(record, preparation)


def torchvision_weights(
    name: str,
    file: str,
    *,
    enum: str,
    score: Mapping[str, float],
    preprocessing: str,
    data: str = "COCO train2017",
    data_licence: str = "annotations CC BY 4.0; photos: Flickr's terms, each by its owner",
    label_names: tuple[str, ...] = (),
    licence: str = _LICENCE,
) -> Weights:
    """The record of another of torchvision's files; arguments as in `torchvision_classifier` and `Weights`."""
    return Weights(
        name=name,
        url=_SITE + file,
        sha256=None,
        about_size=about_size(file),
        licence=licence,
        data=data,
        data_licence=data_licence,
        score=score,
        source=f"torchvision, {enum}",
        label_names=label_names,
        preprocessing=preprocessing,
    )
