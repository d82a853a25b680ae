"""torchvision's weights of RetinaNet: they carry the first digits of their hash in the file's name.

torchvision's names in a RetinaNet, and cvzoo's; conversion of its rows of classes and offsets.
"""

import dataclasses
import re

import numpy as np

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names
from cvzoo.links.model.preparation.resize_shortest_edge import torchvision_detector_preparation
from cvzoo.links.model.pretrained.detector import DetectorFiles
from cvzoo.links.model.pretrained.names import Arrays, Names, counted_batches, picked, place_of, sigmoid_rows, yx_rows
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.links.model.resnet.weights import backbone_names, depth_of, resnet_place
from cvzoo.links.model.retinanet.config import RetinaNetConfig
from cvzoo.weights.record import Signature, Weights

_SIZES = ((32, 40, 50), (64, 80, 101), (128, 161, 203), (256, 322, 406), (512, 645, 812))

# its normalizations have an eps of 0
RESNET50_FPN = RetinaNetConfig(norm="frozen", bn_eps=0.0, anchor_sizes=_SIZES, anchor_rounded=True, antialias=False)
RESNET50_FPN_V2 = RetinaNetConfig(
    extra_from="C5", head_groups=32, anchor_sizes=_SIZES, anchor_rounded=True, antialias=False
)


def _record(version: int, file_name: str, score: float, mib: float, signature: Signature) -> Weights:
    suffix = "" if version == 1 else "_v2"
    return torchvision_weights(
        f"retinanet_resnet50_fpn{suffix}_coco",
        file_name,
        enum=f"RetinaNet_ResNet50_FPN{suffix.upper()}_Weights.COCO_V1",
        score={"COCO val2017 AP": score},
        preprocessing=torchvision_detector_preparation(800, 1333, antialias=False).describe(),
        data="COCO 2017 train, on a backbone from ImageNet-1K",
        data_licence="annotations CC BY 4.0, images Flickr terms of use; ImageNet terms of access",
        label_names=coco_bbox_label_names,
        mib=mib,
        signature=signature,
    )


# name -> (record, config)
WEIGHTS: dict[str, tuple[Weights, RetinaNetConfig]] = {
    "coco": (
        _record(
            1,
            "retinanet_resnet50_fpn_coco-eeacb38b.pth",
            0.364,
            130.267,
            Signature(301, "backbone.body.layer4.2.conv3.weight", (2048, 512, 1, 1)),
        ),
        RESNET50_FPN,
    ),
    "coco_v2": (
        _record(
            2,
            "retinanet_resnet50_fpn_v2_coco-5905b1c5.pth",
            0.415,
            146.037,
            Signature(309, "backbone.body.conv1.weight", (64, 3, 7, 7)),
        ),
        RESNET50_FPN_V2,
    ),
}


_HEAD = r"head\.(classification|regression)_head\."
_OURS = {"classification": "conf_head", "regression": "loc_head"}
_PLACES = (
    (r"backbone\.fpn\.inner_blocks\.(\d+)(?:\.0)?", r"fpn/inner/\1"),
    (r"backbone\.fpn\.layer_blocks\.(\d+)(?:\.0)?", r"fpn/outer/\1"),
    (r"backbone\.fpn\.extra_blocks\.p6", r"fpn/extra/0"),
    (r"backbone\.fpn\.extra_blocks\.p7", r"fpn/extra/1"),
)


def retinanet_place(module: str) -> str | None:
    """cvzoo's path of a module of torchvision's RetinaNet, or None."""
    if module.startswith("backbone.body."):
        return resnet_place(module.removeprefix("backbone.body."))
    place = place_of(module, _PLACES)
    if place is not None:
        return place
    match = re.fullmatch(_HEAD + r"(cls_logits|bbox_reg)", module)
    if match:
        return f"{_OURS[match[1]]}/out"
    match = re.fullmatch(_HEAD + r"conv\.(\d+)(?:\.([01]))?", module)
    if match is None:
        return None
    return f"{_OURS[match[1]]}/{'norms' if match[3] == '1' else 'convs'}/{match[2]}"


def count_classes(named: Arrays) -> int | None:
    """The number of classes of a RetinaNet's arrays by cvzoo's names; None if they do not determine it."""
    if not {"conf_head/out/b", "loc_head/out/b"} <= named.keys():
        return None
    return 4 * named["conf_head/out/b"].size // max(named["loc_head/out/b"].size, 1)


def _in_our_order(named: dict[str, np.ndarray], n_fg_class: int | None) -> dict[str, np.ndarray]:
    n_anchor = named["loc_head/out/b"].size // 4
    for leaf in ("W", "b"):
        named[f"loc_head/out/{leaf}"] = yx_rows(named[f"loc_head/out/{leaf}"])
        name = f"conf_head/out/{leaf}"
        n_class = len(named[name]) // n_anchor
        named[name] = picked(named[name], n_class, sigmoid_rows(n_class, n_fg_class))
    return named


def _whole(requested: RetinaNetConfig, theirs: Arrays, ours: Arrays) -> RetinaNetConfig:
    """The config of torchvision's detector of a file."""
    built = RESNET50_FPN_V2 if "head.classification_head.conv.0.1.weight" in theirs else RESNET50_FPN
    if counted_batches(theirs, "backbone.body."):
        built = dataclasses.replace(built, norm="batch", bn_eps=1e-5)
    return dataclasses.replace(built, n_layer=depth_of(ours))


def _on_backbone(base: RetinaNetConfig | None, theirs: Arrays, ours: Arrays) -> RetinaNetConfig:
    # statistics of ImageNet are better than those of the few images that fit into a detector's batch
    base = RetinaNetConfig(norm="frozen") if base is None else base
    return dataclasses.replace(
        base,
        n_layer=depth_of(ours),
        base_channels=len(ours["extractor/conv1/conv/W"]),
        bn_eps=base.bn_eps or 1e-5,  # only whole detectors have an eps of 0
    )


_TORCHVISION = Names(
    marks=("head.classification_head.cls_logits.weight", "backbone.body.conv1.weight"),
    modules=retinanet_place,
    finish=_in_our_order,
    config=_whole,
    label_names=torchvision_label_names,
)
NAMES = {
    # in torchvision 0.12 and before relus have indices, too: convolutions are 0, 2, 4 and 6
    "torchvision, old heads": dataclasses.replace(
        _TORCHVISION,
        marks=(*_TORCHVISION.marks, "head.classification_head.conv.0.weight"),
        older=[(rf"^({_HEAD}conv\.)([0246])\.(weight|bias)$", lambda m: f"{m[1]}{int(m[3]) // 2}.{m[4]}")],
    ),
    "torchvision": _TORCHVISION,
    "cvzoo": Names(marks=("fpn/inner/0/W",)),
    **backbone_names(_on_backbone),
}


FILES = DetectorFiles(
    architecture="RetinaNet",
    names=NAMES,
    count_classes=count_classes,
    config_class=RetinaNetConfig,
    known_names=(coco_bbox_label_names,),
)
