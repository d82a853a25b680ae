"""Official weights of the YOLO networks.

The publisher names no hashes and the server keeps no versions: the first download is pinned beside the cached file.
"""

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.preparation.letterbox import Letterbox
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.weights.record import Weights

_SITE = "https://pjreddie.com/media/files/"
_LICENCE = "public domain (YOLO licence)"
_SOURCE = "Joseph Redmon, https://pjreddie.com/darknet/yolo"
_PREPROCESSING = Letterbox((416, 416)).describe()


def _chainercv(name: str, file: str, score: float) -> Weights:
    return chainercv_weights(
        name,
        file,
        licence=_LICENCE,
        data="Pascal VOC 2007 and 2012 trainval",
        data_licence="Flickr terms of use",
        score={"VOC 2007 mAP, 11-point, at 416": score},
        source="ChainerCV, from the authors' darknet weights",
        label_names=voc_bbox_label_names,
        preprocessing=_PREPROCESSING,
    )


YOLO_V2_WEIGHTS = {
    "voc0712_chainercv": _chainercv("yolo_v2_voc0712_chainercv", "yolo_v2_voc0712_converted_2018_05_03.npz", 0.758),
    "voc0712": Weights(
        name="yolo_v2_voc0712",
        url=_SITE + "yolov2-voc.weights",
        sha256=None,
        size=None,
        licence=_LICENCE,
        data="Pascal VOC 2007 and 2012 trainval",
        data_licence="Flickr terms of use",
        score={"VOC 2007 mAP at 416": 0.768},
        source=_SOURCE,
        label_names=voc_bbox_label_names,
        preprocessing=_PREPROCESSING,
    ),
    "coco": Weights(
        name="yolo_v2_coco",
        url=_SITE + "yolov2.weights",
        sha256=None,
        size=203_934_260,
        licence=_LICENCE,
        data="COCO 2014 trainval without 5,000 images",
        data_licence="annotations CC BY 4.0, images Flickr terms of use",
        source=_SOURCE,
        label_names=coco_bbox_label_names,
        preprocessing=_PREPROCESSING,
    ),
}

YOLO_V2_TINY_WEIGHTS = {
    "voc0712_chainercv": _chainercv(
        "yolo_v2_tiny_voc0712_chainercv", "yolo_v2_tiny_voc0712_converted_2018_10_19.npz", 0.535
    ),
    "voc0712": Weights(
        name="yolo_v2_tiny_voc0712",
        url=_SITE + "yolov2-tiny-voc.weights",
        sha256=None,
        size=None,
        licence=_LICENCE,
        data="Pascal VOC 2007 and 2012 trainval",
        data_licence="Flickr terms of use",
        score={"VOC 2007 mAP at 416": 0.571},
        source=_SOURCE,
        label_names=voc_bbox_label_names,
        preprocessing=_PREPROCESSING,
    ),
}

YOLO_V3_WEIGHTS = {
    "voc0712": _chainercv("yolo_v3_voc0712", "yolo_v3_voc0712_converted_2018_05_01.npz", 0.802),
    "coco": Weights(
        name="yolo_v3_coco",
        url=_SITE + "yolov3.weights",
        sha256=None,
        size=248_007_048,
        licence=_LICENCE,
        data="COCO 2014 trainval without 5,000 images",
        data_licence="annotations CC BY 4.0, images Flickr terms of use",
        score={"COCO AP at 608": 0.330, "COCO AP50 at 608": 0.579},
        source=_SOURCE,
        label_names=coco_bbox_label_names,
        preprocessing=_PREPROCESSING,
    ),
}

# the backbone alone, to train a detector on
DARKNET53_IMAGENET = Weights(
    name="darknet53_imagenet",
    url=_SITE + "darknet53.conv.74",
    sha256=None,
    size=162_482_580,
    licence=_LICENCE,
    data="ImageNet-1K, ILSVRC 2012 training images",
    data_licence="ImageNet terms of access",
    source=_SOURCE,
    preprocessing="RGB in [0, 1]",
)
