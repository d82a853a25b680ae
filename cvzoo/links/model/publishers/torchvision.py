"""Records of torchvision's files: their names carry the first digits of their hash, and nothing else is published."""

from collections.abc import Mapping

from cvzoo.labels.voc import voc_semantic_segmentation_label_names
from cvzoo.links.model.preparation.abstract import Three
from cvzoo.links.model.preparation.center_crop import CenterCrop, Interpolation
from cvzoo.links.model.preparation.short_side import ShortSide
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.publishers.imagenet import IMAGENET, imagenet_classifier
from cvzoo.weights.record import Signature, Weights

_SITE = "https://download.pytorch.org/models/"
_LICENCE = "not stated; the code is BSD-3-Clause"


def torchvision_classifier(
    name: str,
    file: str,
    top1: float,
    top5: float,
    *,
    enum: str,
    mib: float,
    signature: Signature,
    short: int = 256,
    crop: int = 224,
    interpolation: Interpolation = "bilinear",
    mean: Three = (0.485, 0.456, 0.406),
    std: Three = (0.229, 0.224, 0.225),
    licence: str = _LICENCE,
    data: str = IMAGENET,
) -> ClassWeights:
    """The record of an ImageNet classifier, and its preprocessing.

    name: of the record, unique in the zoo
    file: on torchvision's site, such as "resnet18-f37072fd.pth"
    top1, top5: percent, of one crop, as published
    enum: torchvision's name of it, such as "ResNet18_Weights.IMAGENET1K_V1"
    mib: size of the file in MiB, rounded as published
    signature: of the network in torchvision 0.29, unique
    """
    preparation = CenterCrop(short, crop, interpolation, mean, std)
    return imagenet_classifier(
        name,
        _SITE + file,
        top1,
        top5,
        source=f"torchvision, {enum}",
        licence=licence,
        preparation=preparation,
        data=data,
        about_size=round(mib * 2**20),
        signature=signature,
    )


def torchvision_weights(
    name: str,
    file: str,
    *,
    enum: str,
    mib: float,
    signature: Signature,
    score: Mapping[str, float],
    preprocessing: str,
    data: str = "COCO train2017",
    data_licence: str = "annotations CC BY 4.0; images: Flickr's terms, each by its owner",
    label_names: tuple[str, ...] = (),
) -> Weights:
    """The record of another of torchvision's files; arguments as in `torchvision_classifier` and `Weights`."""
    return Weights(
        name=name,
        url=_SITE + file,
        sha256=None,
        about_size=round(mib * 2**20),
        signature=signature,
        licence=_LICENCE,
        data=data,
        data_licence=data_licence,
        score=score,
        source=f"torchvision, {enum}",
        label_names=label_names,
        preprocessing=preprocessing,
    )


def torchvision_segmenter(
    name: str, digits: str, model: str, miou: float, pixel_accuracy: float, *, mib: float, signature: Signature
) -> Weights:
    """The record of a file.

    name: of the record, and of the file up to the `digits` of its hash
    model: torchvision's name of it, such as "FCN_ResNet50"
    miou, pixel_accuracy: as published, on COCO val2017's images with these classes
    mib, signature: as in `torchvision_classifier`
    """
    return torchvision_weights(
        name.removesuffix("_coco"),
        f"{name}-{digits}.pth",
        enum=f"{model}_Weights.COCO_WITH_VOC_LABELS_V1",
        score={"miou": miou, "pixel_accuracy": pixel_accuracy},
        preprocessing=ShortSide(520).describe(),
        data="COCO train2017, the images and pixels of the 20 classes of Pascal VOC",
        label_names=voc_semantic_segmentation_label_names,
        mib=mib,
        signature=signature,
    )
