"""Records of gluon-cv's files."""

from collections.abc import Mapping

from cvzoo.labels.ade20k import ade20k_semantic_segmentation_label_names
from cvzoo.labels.cityscapes import cityscapes_semantic_segmentation_label_names
from cvzoo.labels.voc import voc_semantic_segmentation_label_names
from cvzoo.links.model.preparation.short_side import ShortSide
from cvzoo.weights.record import Weights

_SITE = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/gluon/models/"
# cvzoo's name of the data -> gluon-cv's, the data, their license, class names
_DATA = {
    "voc": ("voc", "Pascal VOC 2012", "Flickr's terms, each image by its owner", voc_semantic_segmentation_label_names),
    "coco_voc": (
        "coco",
        "COCO train2017, the images and pixels of the 20 classes of Pascal VOC",
        "annotations CC BY 4.0; images: Flickr's terms, each by its owner",
        voc_semantic_segmentation_label_names,
    ),
    "ade20k": (
        "ade",
        "ADE20K, training images",
        "ADE20K terms: research, no commercial use",
        ade20k_semantic_segmentation_label_names,
    ),
    "cityscapes": (
        "citys",
        "Cityscapes, finely labelled training frames",
        "Cityscapes terms: research, no commercial use",
        cityscapes_semantic_segmentation_label_names,
    ),
}


def gluon_weights(
    name: str,
    file: str,
    *,
    data: str,
    data_licence: str,
    score: Mapping[str, float],
    source: str,
    label_names: tuple[str, ...],
    preprocessing: str,
    licence: str = "Apache-2.0",
) -> Weights:
    """The record of a file. file: its name on gluon-cv's site; the others as in `Weights`."""
    return Weights(
        name=name,
        url=_SITE + file,
        sha256=None,
        licence=licence,
        data=data,
        data_licence=data_licence,
        score=score,
        source=source,
        label_names=label_names,
        preprocessing=preprocessing,
    )


def gluon_segmenter(
    network: str, data: str, sha1: str, miou: float | None = None, *, preprocessing: str = ShortSide(520).describe()
) -> Weights:
    """The record of a file.

    network: gluon-cv's name of it, such as "deeplab_resnet101"
    data: "voc", "coco_voc", "ade20k" or "cityscapes"
    sha1: of the .params file inside of the archive; eight digits are in the archive's name
    miou: as published, averaged over several views; None: not published
    preprocessing: in words
    """
    theirs, words, data_licence, label_names = _DATA[data]
    return gluon_weights(
        f"{network}_{data}_gluon",
        f"{network}_{theirs}-{sha1[:8]}.zip",
        data=words,
        data_licence=data_licence,
        score={} if miou is None else {"miou": miou},
        source=f"gluon-cv 0.11, {network}_{theirs}; SHA-1 of the file inside: {sha1}",
        label_names=label_names,
        preprocessing=preprocessing,
    )
