"""Public darknet networks: cfg, weights and class names."""

from functools import partial
from typing import NamedTuple

from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.weights.record import Weights


class DarknetFiles(NamedTuple):
    """The three records of one network."""

    cfg: Weights
    weights: Weights
    names: Weights


_LICENCE = "public domain (YOLO licence)"

_FASTEST = "https://raw.githubusercontent.com/dog-qiuqiu/Yolo-Fastest/96a2900d163196c396e73f3fdab04ca4dd9a2f70/"
_fastest = partial(
    Weights,
    licence=_LICENCE,
    data="COCO train2017",
    data_licence="annotations CC BY 4.0, images Flickr terms of use",
    source="dog-qiuqiu/Yolo-Fastest at 96a2900",
)

YOLO_FASTEST_COCO = DarknetFiles(
    _fastest(
        name="yolo_fastest_1.1_coco.cfg",
        url=_FASTEST + "ModelZoo/yolo-fastest-1.1_coco/yolo-fastest-1.1.cfg",
        sha256="f6df5775c1e862998cf69046eba9265be3ae84dfe8b2caab7529823f0795bf70",
        size=9_685,
    ),
    _fastest(
        name="yolo_fastest_1.1_coco",
        url=_FASTEST + "ModelZoo/yolo-fastest-1.1_coco/yolo-fastest-1.1.weights",
        sha256="1c445c42bbd6df63edea2cc69f99667b5650d663ca11e34b116240740cd42890",
        size=1_384_268,
        score={"COCO train2017 (50 images) AP": 0.1259, "COCO train2017 (50 images) AP50": 0.2678},
        preprocessing=Stretch((320, 320), std=(255.0, 255.0, 255.0)).describe(),
    ),
    _fastest(
        name="yolo_fastest_1.1_coco.names",
        url=_FASTEST + "ModelZoo/yolo-fastest-1.1_coco/coco.names",
        sha256="634a1132eb33f8091d60f2c346ababe8b905ae08387037aed883953b7329af84",
        size=625,
    ),
)

_MOBILENET = "https://raw.githubusercontent.com/dog-qiuqiu/MobileNet-Yolo/86c05bfc4e508d54a459a469faecc35a113454c1/"
_mobilenet = partial(
    Weights,
    licence=_LICENCE,
    data="Pascal VOC 2007 and 2012 trainval",
    data_licence="Flickr terms of use",
    source="dog-qiuqiu/MobileNet-Yolo at 86c05bf",
)

MOBILENET_V2_YOLO_V3_NANO_VOC = DarknetFiles(
    _mobilenet(
        name="mobilenet_v2_yolo_v3_nano_voc.cfg",
        url=_MOBILENET + "MobileNetV2-YOLOv3-Nano/VOC/MobileNetV2-YOLOv3-Nano-voc.cfg",
        sha256="671b726a719f21cb72d80326195be8ab6862361479ee5d1d4528ed68ae9d6a6b",
        size=7_009,
    ),
    _mobilenet(
        name="mobilenet_v2_yolo_v3_nano_voc",
        url=_MOBILENET + "MobileNetV2-YOLOv3-Nano/VOC/MobileNetV2-YOLOv3-Nano-voc.weights",
        sha256="3dc752a0dee830fb974bfd518d88df924d1eef03868e551786d606cd0f81c210",
        size=3_079_020,
        preprocessing=Stretch((320, 320), std=(255.0, 255.0, 255.0)).describe(),
    ),
    _mobilenet(
        name="mobilenet_v2_yolo_v3_nano_voc.names",
        url=_MOBILENET + "MobileNetV2-YOLOv3-Nano/VOC/voc.names",
        sha256="f14861775969fd006b382e005f96dc811ef062ea4a37356efb70d7775e90f743",
        size=135,
    ),
)
