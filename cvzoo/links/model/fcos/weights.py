"""torchvision's weights of FCOS.

torchvision's names in an FCOS, and cvzoo's; conversion of its rows of classes and distances.
"""

import dataclasses
import re

import numpy as np

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names
from cvzoo.links.model.config import ModelConfig
from cvzoo.links.model.preparation.resize_shortest_edge import torchvision_detector_preparation
from cvzoo.links.model.pretrained.names import Arrays, Names, place_of, sigmoid_rows, yx_rows
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.links.model.resnet.weights import backbone_names, depth_of, resnet_place
from cvzoo.weights.record import Signature, Weights

_PLACES = (
    (r"backbone\.fpn\.inner_blocks\.(\d+)\.0", r"fpn/inner/\1"),
    (r"backbone\.fpn\.layer_blocks\.(\d+)\.0", r"fpn/outer/\1"),
    (r"backbone\.fpn\.extra_blocks\.p6", r"fpn/extra/0"),
    (r"backbone\.fpn\.extra_blocks\.p7", r"fpn/extra/1"),
    (r"head\.classification_head\.cls_logits", r"head/conf"),
    (r"head\.regression_head\.bbox_reg", r"head/loc"),
    (r"head\.regression_head\.bbox_ctrness", r"head/center"),
)
_TOWERS = {"classification": "conf_tower", "regression": "loc_tower"}


def fcos_place(module: str) -> str | None:
    """cvzoo's path of a module of torchvision's FCOS, or None."""
    if module.startswith("backbone.body."):
        return resnet_place(module.removeprefix("backbone.body."))
    place = place_of(module, _PLACES)
    if place is not None:
        return place
    match = re.fullmatch(r"head\.(classification|regression)_head\.conv\.(\d+)", module)
    if match is None or int(match[2]) % 3 == 2:  # indices of convolution, normalization, relu in turn
        return None
    return f"head/{_TOWERS[match[1]]}/{('convs', 'norms')[int(match[2]) % 3]}/{int(match[2]) // 3}"


def count_classes(named: Arrays) -> int | None:
    """The number of classes of an FCOS's arrays by cvzoo's names; None if they do not determine it."""
    return len(named["head/conf/b"]) if "head/conf/b" in named else None


def _in_our_order(named: dict[str, np.ndarray], n_fg_class: int | None) -> dict[str, np.ndarray]:
    for leaf in ("W", "b"):
        named[f"head/loc/{leaf}"] = yx_rows(named[f"head/loc/{leaf}"])  # left up right down to up left down right
        scores = named[f"head/conf/{leaf}"]
        named[f"head/conf/{leaf}"] = scores[sigmoid_rows(len(scores), n_fg_class)]
    return named


def _whole(base: ModelConfig, theirs: Arrays, ours: Arrays) -> ModelConfig:
    """The config `base` with the depth of the file's network."""
    return dataclasses.replace(base, n_layer=depth_of(ours))


def _on_backbone(base: ModelConfig, theirs: Arrays, ours: Arrays) -> ModelConfig:
    # statistics of ImageNet are better than those of the few images that fit into a detector's batch
    width = len(ours["extractor/conv1/conv/W"])
    return dataclasses.replace(_whole(base, theirs, ours), norm="frozen", base_channels=width)


NAMES = {
    "torchvision": Names(
        marks=("head.regression_head.bbox_ctrness.weight", "backbone.body.conv1.weight"),
        modules=fcos_place,
        finish=_in_our_order,
        config=_whole,
        label_names=torchvision_label_names,
    ),
    "cvzoo": Names(marks=("head/conf/b",), config=_whole),
    **backbone_names(_on_backbone),
}


WEIGHTS: dict[str, Weights] = {
    "coco": torchvision_weights(
        "fcos_resnet50_fpn_coco",
        "fcos_resnet50_fpn_coco-99b0c9b7.pth",
        enum="FCOS_ResNet50_FPN_Weights.COCO_V1",
        score={"COCO val2017 AP": 0.392},
        preprocessing=torchvision_detector_preparation(800, 1333, antialias=False).describe(),
        label_names=coco_bbox_label_names,
        mib=123.608,
        signature=Signature(319, "backbone.body.layer4.2.conv3.weight", (2048, 512, 1, 1)),
    )
}
