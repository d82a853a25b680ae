"""Weight records of ImageNet classifiers, for all publishers."""

from collections.abc import Mapping

from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.weights.record import Signature, Weights

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
    signature: Signature | None = None,
    label_names: tuple[str, ...] = imagenet_label_names,
) -> ClassWeights:
    """The record of an ImageNet classifier, and its preprocessing.

    name: of the record, unique in the zoo
    top1, top5: percent, of one crop; None: not stated
    preparation: preprocessing with which these were measured; the others as in `Weights`
    """
    score: Mapping[str, float] = {"top1": round(top1 / 100, 5)}
    if top5 is not None:
        score = {**score, "top5": round(top5 / 100, 5)}
    record = Weights(
        name=name,
        url=url,
        sha256=None,
        about_size=about_size,
        signature=signature,
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
    """The record of an ImageNet classifier, and its preprocessing.

    name: of the record, unique in the zoo
    top1, top5: percent, of one crop, as measured by timm
    source: its author
    crop, share: side of the center crop, and its ratio to the short side; bicubic
    """
    preparation = CenterCrop(int(crop / share), crop, "bicubic")
    return imagenet_classifier(
        name, url, top1, top5, source=source, licence=licence, preparation=preparation, data=data
    )
