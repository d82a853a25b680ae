"""Where published weights of SSD lie."""

import dataclasses

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.links.model.publishers.gluon_cv import gluon_weights
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.links.model.ssd.config import (
    GLUON_MEAN,
    SSD300_SETTINGS,
    SSD300_TORCHVISION,
    SSD512_SETTINGS,
    ssd_preparation,
)
from cvzoo.weights.record import Weights

_SOURCE = "ChainerCV, from the authors' Caffe weights"

_SETTINGS = {300: SSD300_SETTINGS, 512: SSD512_SETTINGS}


def _chainercv(name: str, file: str, insize: int, score: dict[str, float], source: str = _SOURCE) -> Weights:
    return chainercv_weights(
        name,
        file,
        data="Pascal VOC 2007 and 2012 trainval, on VGG16 from ImageNet-1K",
        data_licence="Flickr terms of use; ImageNet terms of access",
        score=score,
        source=source,
        label_names=voc_bbox_label_names,
        preprocessing=ssd_preparation(_SETTINGS[insize]).describe(),
    )


def _gluon(insize: int, data: str, digits: str, score: dict[str, float]) -> Weights:
    voc = data == "voc"
    built = dataclasses.replace(_SETTINGS[insize], mean=GLUON_MEAN, antialias=True)
    return gluon_weights(
        f"ssd{insize}_{'voc0712' if voc else 'coco'}_gluon",
        f"ssd_{insize}_vgg16_atrous_{data}-{digits}.zip",
        licence="Apache-2.0 (of the repository)",
        data="Pascal VOC 2007 and 2012 trainval" if voc else "COCO train2017",
        data_licence="Flickr terms of use" if voc else "annotations CC BY 4.0, photos Flickr terms of use",
        score=score,
        source=f"gluon-cv, ssd_{insize}_vgg16_atrous_{data}",
        label_names=voc_bbox_label_names if voc else coco_bbox_label_names,
        preprocessing=ssd_preparation(built).describe(),
    )


IMAGENET = chainercv_weights(
    "ssd_vgg16_imagenet",
    "ssd_vgg16_imagenet_converted_2017_06_09.npz",
    licence="not stated; the original is CC BY 4.0",
    data="ImageNet-1K, ILSVRC 2012 training photos",
    data_licence="ImageNet terms of access",
    source="ChainerCV, from the authors' VGG16 without its last layers",
    preprocessing="RGB in [0, 255] less (123, 117, 104)",
)
SSD300_WEIGHTS: dict[str, Weights] = {
    "voc0712": _chainercv(
        "ssd300_voc0712", "ssd300_voc0712_converted_2017_06_06.npz", 300, {"VOC 2007 mAP, 11-point": 0.778}
    ),
    "voc0712_chainercv": _chainercv(
        "ssd300_voc0712_chainercv",
        "ssd300_voc0712_trained_2017_08_08.npz",
        300,
        {"VOC 2007 mAP, 11-point": 0.775},
        "ChainerCV, trained by it",
    ),
    "coco": torchvision_weights(
        "ssd300_coco",
        "ssd300_vgg16_coco-b556d3b4.pth",
        enum="SSD300_VGG16_Weights.COCO_V1",
        score={"COCO val2017 AP": 0.251},
        preprocessing=ssd_preparation(SSD300_TORCHVISION).describe(),
        label_names=coco_bbox_label_names,
    ),
    "voc0712_gluon": _gluon(300, "voc", "0e169fbb", {"VOC 2007 mAP, 11-point": 0.776}),
    "coco_gluon": _gluon(300, "coco", "b302ad8a", {"COCO val2017 AP": 0.251}),
    "imagenet": IMAGENET,
}
SSD512_WEIGHTS: dict[str, Weights] = {
    "voc0712": _chainercv(
        "ssd512_voc0712", "ssd512_voc0712_converted_2017_06_06.npz", 512, {"VOC 2007 mAP, 11-point": 0.797}
    ),
    "voc0712_chainercv": _chainercv(
        "ssd512_voc0712_chainercv",
        "ssd512_voc0712_trained_2017_08_08.npz",
        512,
        {"VOC 2007 mAP, 11-point": 0.801},
        "ChainerCV, trained by it, 24 photos a batch",
    ),
    "voc0712_gluon": _gluon(512, "voc", "daf8181b", {"VOC 2007 mAP, 11-point": 0.792}),
    "coco_gluon": _gluon(512, "coco", "5c860642", {"COCO val2017 AP": 0.289}),
    "imagenet": IMAGENET,
}
