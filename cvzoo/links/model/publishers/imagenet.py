"""What the weight records of all publishers of ImageNet classifiers have in common."""

from collections.abc import Mapping

from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.weights.record import Weights

IMAGENET = "ImageNet-1K, ILSVRC 2012 training images"
IMAGENET_TERMS = "ImageNet terms of access: research, no commercial use"


def imagenet_classifier(
    name: str,
    url: str,
    top1: float,
    top5: float | None,
    *,
    source: str,
    licence: str,
    preparation: CenterCrop,
    data: str = IMAGENET,
    about_size: int | None = None,
    label_names: tuple[str, ...] = imagenet_label_names,
) -> ClassWeights:
    """The record of a classifier of ImageNet, and how it sees an image.

    name: of the record, unique in the zoo
    top1, top5: per cent, of one crop; None: not stated
    preparation: how images were prepared when these were measured; the others as in `Weights`
    """
    score: Mapping[str, float] = {"top1": round(top1 / 100, 5)}
    if top5 is not None:
        score = {**score, "top5": round(top5 / 100, 5)}
    record = Weights(
        name=name,
        url=url,
        sha256=None,
        about_size=about_size,
        licence=licence,
        data=data,
        data_licence=IMAGENET_TERMS,
        score=score,
        source=source,
        label_names=label_names,
        preprocessing=preparation.describe(),
    )
    return ClassWeights(record, preparation)


def maker_record(
    name: str,
    url: str,
    top1: float,
    top5: float,
    *,
    source: str,
    licence: str,
    crop: int,
    share: float,
    data: str = IMAGENET,
) -> ClassWeights:
    """The record of a classifier of ImageNet, and how it sees an image.

    name: of the record, unique in the zoo
    top1, top5: per cent, of one crop, as timm measured them
    source: who made it
    crop, share: the side of the square that the network sees, and its share of the short side; bicubic
    """
    preparation = CenterCrop(int(crop / share), crop, "bicubic")
    return imagenet_classifier(
        name, url, top1, top5, source=source, licence=licence, preparation=preparation, data=data
    )
