"""Where published weights of SSD lie."""

from cvzoo.links.model.label_names import COCO_LABEL_NAMES, VOC_LABEL_NAMES
from cvzoo.links.model.torchvision_record import torchvision_weights
from cvzoo.weights.record import Weights

_SITE = "https://chainercv-models.preferred.jp/"
_SOURCE = "ChainerCV, from the authors' Caffe weights"


def _stretched(insize: int, mean: str) -> str:
    return f"{insize} x {insize}, sides stretched, bilinear without antialiasing, RGB in [0, 255] less {mean}"


def _chainercv(name: str, file: str, insize: int, score: dict[str, float], source: str = _SOURCE) -> Weights:
    return Weights(
        name=name,
        url=_SITE + file,
        sha256=None,
        licence="not stated; the code is MIT",
        data="Pascal VOC 2007 and 2012 trainval, on VGG16 from ImageNet-1K",
        data_licence="Flickr terms of use; ImageNet terms of access",
        score=score,
        source=source,
        label_names=VOC_LABEL_NAMES,
        preprocessing=_stretched(insize, "(123, 117, 104)"),
    )


IMAGENET = Weights(
    name="ssd_vgg16_imagenet",
    url=_SITE + "ssd_vgg16_imagenet_converted_2017_06_09.npz",
    sha256=None,
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
        preprocessing=_stretched(300, "255 * (.48235, .45882, .40784)"),
        label_names=COCO_LABEL_NAMES,
    ),
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
    "imagenet": IMAGENET,
}
