"""Records of classifiers in files of those who made the network, with scores as timm measured them."""

from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.weights.record import Weights


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
    data: str = "ImageNet-1K, ILSVRC 2012 training photos",
) -> ClassWeights:
    """The record of a classifier of ImageNet, and how it sees a photo.

    name: of the record, unique in the zoo
    top1, top5: per cent, of one crop, as timm measured them
    source: who made it
    crop, share: the side of the square that the network sees, and its share of the short side; bicubic
    """
    preparation = CenterCrop(int(crop / share), crop, "bicubic")
    record = Weights(
        name=name,
        url=url,
        sha256=None,
        licence=licence,
        data=data,
        data_licence="ImageNet terms of access: research, no commercial use",
        score={"top1": round(top1 / 100, 5), "top5": round(top5 / 100, 5)},
        source=source,
        label_names=imagenet_label_names,
        preprocessing=preparation.describe(),
    )
    return ClassWeights(record, preparation)
