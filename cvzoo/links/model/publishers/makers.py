"""Records of classifiers in files of those who made the network, with scores as timm measured them."""

from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.publishers.imagenet import IMAGENET, imagenet_classifier


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
    """The record of a classifier of ImageNet, and how it sees a photo.

    name: of the record, unique in the zoo
    top1, top5: per cent, of one crop, as timm measured them
    source: who made it
    crop, share: the side of the square that the network sees, and its share of the short side; bicubic
    """
    preparation = CenterCrop(int(crop / share), crop, "bicubic")
    return imagenet_classifier(
        name, url, top1, top5, source=source, licence=licence, preparation=preparation, data=data
    )
