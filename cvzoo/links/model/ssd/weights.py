"""Published weights of SSD.

torchvision's, gluon-cv's and ChainerCV's names in an SSD on VGG16, and cvzoo's; their default boxes.
"""

import dataclasses
import re
from collections.abc import Callable

import numpy as np

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.model.pretrained.detector import DetectorFiles
from cvzoo.links.model.pretrained.names import Arrays, Names, foreground_rows, picked, yx_rows
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.links.model.publishers.gluon_cv import gluon_weights
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.links.model.ssd.config import (
    SSD300_SETTINGS,
    SSD300_TORCHVISION,
    SSD512_SETTINGS,
    SSDConfig,
    ssd_preparation,
)
from cvzoo.weights.record import Signature, Weights

_FEATURES = {
    0: "conv1_1", 2: "conv1_2", 5: "conv2_1", 7: "conv2_2", 10: "conv3_1", 12: "conv3_2", 14: "conv3_3",
    17: "conv4_1", 19: "conv4_2", 21: "conv4_3",
}  # fmt: skip
_FIRST_EXTRA = {"1": "conv5_1", "3": "conv5_2", "5": "conv5_3", "7.1": "conv6", "7.3": "conv7"}
_HEADS = {"classification": "conf", "regression": "loc", "class": "conf", "box": "loc"}
_VGG16 = ("1_", "2_", "3_", "4_", "5_", "6/", "7/")  # layers of the extractor that a classifier has
_GLUON_MEAN = (0.485 * 255, 0.456 * 255, 0.406 * 255)
# ImageNet's, by which GluonCV divides; the file's init_scale undoes that
_GLUON_STD = np.array([0.229, 0.224, 0.225]) * 255
_GLUON_ANCHORS = re.compile(r"anchor_generators\.(\d+)\.anchors")


def torchvision_place(module: str) -> str | None:
    """cvzoo's path of a module of torchvision's SSD, or None."""
    match = re.fullmatch(r"backbone\.features\.(\d+)", module)
    if match:
        name = _FEATURES.get(int(match[1]))
        return None if name is None else f"extractor/{name}"
    match = re.fullmatch(r"backbone\.extra\.0\.(\d(?:\.\d)?)", module)
    if match:
        name = _FIRST_EXTRA.get(match[1])
        return None if name is None else f"extractor/{name}"
    match = re.fullmatch(r"backbone\.extra\.([1-9])\.([02])", module)
    if match:
        return f"extractor/conv{7 + int(match[1])}_{1 + int(match[2]) // 2}"
    match = re.fullmatch(r"head\.(classification|regression)_head\.module_list\.(\d+)", module)
    return None if match is None else f"multibox/{_HEADS[match[1]]}/{match[2]}"


def gluon_place(module: str) -> str | None:
    """cvzoo's path of a module of gluon-cv's SSD, or None."""
    match = re.fullmatch(r"features\.stages\.([0-5])\.([024])", module)
    if match:  # each convolution is followed by its relu, which has an index as well
        stage, i = int(match[1]), int(match[2]) // 2
        return f"extractor/conv{6 + i}" if stage == 5 else f"extractor/conv{stage + 1}_{i + 1}"
    match = re.fullmatch(r"features\.extras\.(\d)\.([02])", module)
    if match:
        return f"extractor/conv{8 + int(match[1])}_{1 + int(match[2]) // 2}"
    match = re.fullmatch(r"(class|box)_predictors\.(\d)\.predictor", module)
    return None if match is None else f"multibox/{_HEADS[match[1]]}/{match[2]}"


def in_our_order(
    named: dict[str, np.ndarray],
    n_fg_class: int | None,
    *,
    is_last: Callable[[str], re.Match | None] = re.compile(r"multibox/(loc|conf)/\d+/[Wb]").fullmatch,
) -> dict[str, np.ndarray]:
    """The arrays by cvzoo's names, dx dy dw dh as dy dx dh dw, with the requested classes.

    n_fg_class: of the model, see `foreground_rows`
    is_last: matches the names of the heads' last convolutions; the first group is "loc" or "conf"
    """
    named, n_box = dict(named), {}
    for name, array in named.items():
        match = is_last(name)
        if match and match[1] == "loc":
            n_box[name.replace("/loc/", "/conf/")] = len(array) // 4
            named[name] = yx_rows(array)
    for name, n in n_box.items():
        n_class = len(named[name]) // n
        named[name] = picked(named[name], n_class, np.append(0, foreground_rows(n_class, n_fg_class)))
    return named


def gluon_config(requested: SSDConfig | None, theirs: Arrays, ours: Arrays) -> SSDConfig:
    """The config of the network of gluon-cv's arrays, which include its default boxes.

    Raises FileFormatError unless it has as many levels as the published ones.
    """
    cells = {int(match[1]): theirs[match[0]] for match in map(_GLUON_ANCHORS.fullmatch, theirs) if match}
    known = {each.n_level: each for each in (SSD300_SETTINGS, SSD512_SETTINGS)}
    if sorted(cells) != list(range(len(cells))) or len(cells) not in known:
        raise FileFormatError("an SSD of gluon-cv has 6 or 7 levels of default boxes", got=len(cells))
    # of the first position: center x, center y, width, height of the small square, then of the large one
    first = [np.asarray(cells[i], np.float64)[0, 0, 0, 0].reshape(-1, 4) for i in range(len(cells))]
    sizes = [round(float(boxes[0, 2]), 3) for boxes in first]
    last = round(float(first[-1][1, 2] ** 2 / first[-1][0, 2]), 3)
    base = known[len(cells)]
    return SSDConfig(
        insize=base.insize,
        extras=base.extras,
        sizes=(*sizes, last),
        aspect_ratios=tuple((2,) if len(boxes) == 4 else (2, 3) for boxes in first),
        steps=tuple(round(2 * float(boxes[0, 1]), 3) for boxes in first),
        mean=_GLUON_MEAN,
        antialias=True,
        limit=100,
    )


def count_classes(named: Arrays) -> int | None:
    """The number of classes of an SSD's arrays by cvzoo's names; None if they do not determine it."""
    conf, loc = (named.get(f"multibox/{kind}/0/b") for kind in ("conf", "loc"))
    return None if conf is None or loc is None else 4 * len(conf) // len(loc) - 1


def _from_gluon(named: dict[str, np.ndarray], n_fg_class: int | None) -> dict[str, np.ndarray]:
    """Without the factor that undoes the division by the standard deviation; all classes.

    Raises FileFormatError if the factor is different.
    """
    factor = named.pop("features.init_scale", None)
    if factor is not None and not np.allclose(np.ravel(factor), _GLUON_STD, rtol=1e-3):
        raise FileFormatError("features.init_scale is not 255 * (.229, .224, .225)", got=np.ravel(factor)[:3].tolist())
    return in_our_order(named, None)


NAMES = {
    "torchvision": Names(
        marks=("backbone.scale_weight", "head.regression_head.module_list.0.weight"),
        modules=torchvision_place,
        rules=[(r"^backbone\.scale_weight$", "extractor/norm4/scale")],
        finish=in_our_order,
        config=lambda requested, theirs, ours: SSD300_TORCHVISION,
        label_names=torchvision_label_names,
    ),
    "gluon-cv": Names(
        marks=("features.norm4.scale", "class_predictors.0.predictor.weight"),
        modules=gluon_place,
        rules=[(r"^features\.norm4\.scale$", "extractor/norm4/scale")],
        drop=("anchor_generators.",),
        values=[("extractor/norm4/scale", np.ravel)],
        finish=_from_gluon,
        config=gluon_config,
    ),
    "ChainerCV's VGG16": Names(
        marks=("conv1_1/W",), rules=[("^", "extractor/")], only=tuple(f"extractor/conv{i}" for i in _VGG16)
    ),
    "cvzoo, seven levels": Names(
        marks=("extractor/conv1_1/W", "multibox/loc/0/W", "multibox/loc/6/W"),
        config=lambda requested, theirs, ours: SSD512_SETTINGS,
    ),
    "cvzoo": Names(
        marks=("extractor/conv1_1/W", "multibox/loc/0/W"), config=lambda requested, theirs, ours: SSD300_SETTINGS
    ),
}


FILES = DetectorFiles(
    architecture="SSD",
    names=NAMES,
    count_classes=count_classes,
    config_class=SSDConfig,
    known_names=(voc_bbox_label_names, coco_bbox_label_names),
    default_names=voc_bbox_label_names,
)


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
    built = dataclasses.replace(_SETTINGS[insize], mean=_GLUON_MEAN, antialias=True)
    return gluon_weights(
        f"ssd{insize}_{'voc0712' if voc else 'coco'}_gluon",
        f"ssd_{insize}_vgg16_atrous_{data}-{digits}.zip",
        licence="Apache-2.0 (of the repository)",
        data="Pascal VOC 2007 and 2012 trainval" if voc else "COCO train2017",
        data_licence="Flickr terms of use" if voc else "annotations CC BY 4.0, images Flickr terms of use",
        score=score,
        source=f"gluon-cv, ssd_{insize}_vgg16_atrous_{data}",
        label_names=voc_bbox_label_names if voc else coco_bbox_label_names,
        preprocessing=ssd_preparation(built).describe(),
    )


IMAGENET = chainercv_weights(
    "ssd_vgg16_imagenet",
    "ssd_vgg16_imagenet_converted_2017_06_09.npz",
    licence="not stated; the original is CC BY 4.0",
    data="ImageNet-1K, ILSVRC 2012 training images",
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
        mib=135.988,
        signature=Signature(71, "backbone.extra.4.2.weight", (256, 128, 3, 3)),
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
        "ChainerCV, trained by it, 24 images a batch",
    ),
    "voc0712_gluon": _gluon(512, "voc", "daf8181b", {"VOC 2007 mAP, 11-point": 0.792}),
    "coco_gluon": _gluon(512, "coco", "5c860642", {"COCO val2017 AP": 0.289}),
    "imagenet": IMAGENET,
}
