"""torchvision's weights of SSDLite.

torchvision's names in an SSDLite on MobileNetV3, and cvzoo's.
"""

import functools
import re

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_categories import torchvision_label_names
from cvzoo.links.model.inverted_residual import sequential_places
from cvzoo.links.model.mobilenet_v3.extractor import network_plan
from cvzoo.links.model.mobilenet_v3.weights import extractor_places
from cvzoo.links.model.pretrained.detector import DetectorFiles
from cvzoo.links.model.pretrained.names import Arrays, Names
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.links.model.ssd.weights import in_our_order
from cvzoo.links.model.ssdlite.config import SSDLiteConfig, ssdlite_preparation
from cvzoo.links.model.ssdlite.extractor import SPLIT
from cvzoo.weights.record import Signature, Weights

_EXTRA = re.compile(r"backbone\.extra\.(\d+)\.([012])\.([01])")
_HEAD = re.compile(r"head\.(classification|regression)_head\.module_list\.(\d+)\.(0\.0|0\.1|1)")
_HEADS = {"classification": "multibox/conf", "regression": "multibox/loc"}
_PARTS = {"0.0": "depthwise/conv", "0.1": "depthwise/bn", "1": "out"}
_LAST = re.compile(r"multibox/(loc|conf)/\d+/out/[Wb]")


def ssdlite_places(*, width: float = 1.0, reduced_tail: bool = True) -> dict[str, str]:
    """cvzoo's path of each module of MobileNetV3 in torchvision's SSDLite, which splits the network inside a block."""
    plan = network_plan("large", width=width, reduced_tail=reduced_tail)
    theirs = {}
    for name, place in extractor_places(plan, ours="extractor/base").items():
        layer, _, rest = name.removeprefix("features.").partition(".")
        if int(layer) < SPLIT:
            theirs[f"backbone.features.0.{layer}.{rest}"] = place
        elif int(layer) > SPLIT:
            theirs[f"backbone.features.1.{int(layer) - SPLIT}.{rest}"] = place
    row = plan.rows[SPLIT - 1]
    block = sequential_places("cut", f"extractor/base/blocks/{SPLIT - 1}", expand=True, excite=row.excite)
    for name, place in block:
        rest = name.removeprefix("cut.")
        first = rest.startswith("0.")
        theirs[f"backbone.features.0.{SPLIT}.{rest[2:]}" if first else f"backbone.features.1.0.{rest}"] = place
    return theirs


def ssdlite_files(*, width: float = 1.0, reduced_tail: bool = True) -> DetectorFiles:
    """The format of files of SSDLite on that backbone."""
    places = ssdlite_places(width=width, reduced_tail=reduced_tail)

    def place_of(module: str) -> str | None:
        match = _EXTRA.fullmatch(module)
        if match:
            return f"extractor/extras/{match[1]}/conv{int(match[2]) + 1}/{'bn' if match[3] == '1' else 'conv'}"
        match = _HEAD.fullmatch(module)
        if match:
            return f"{_HEADS[match[1]]}/{match[2]}/{_PARTS[match[3]]}"
        return places.get(module)

    names = {
        "torchvision": Names(
            marks=("head.regression_head.module_list.0.1.weight", "backbone.features.0.0.0.weight"),
            modules=place_of,
            finish=functools.partial(in_our_order, is_last=_LAST.fullmatch),
            label_names=torchvision_label_names,
        ),
        "cvzoo": Names(marks=("multibox/loc/0/out/b", "multibox/conf/0/out/b")),
    }
    return DetectorFiles("SSDLite", names, count_classes, SSDLiteConfig, default_names=coco_bbox_label_names)


def count_classes(named: Arrays) -> int | None:
    """The number of classes of an SSDLite's arrays by cvzoo's names; None if they do not determine it."""
    conf, loc = (named.get(f"multibox/{kind}/0/out/b") for kind in ("conf", "loc"))
    return None if conf is None or loc is None else 4 * len(conf) // len(loc) - 1


WEIGHTS: dict[str, Weights] = {
    "coco": torchvision_weights(
        "ssdlite320_mobilenet_v3_large_coco",
        "ssdlite320_mobilenet_v3_large_coco-a79551df.pth",
        enum="SSDLite320_MobileNet_V3_Large_Weights.COCO_V1",
        score={"COCO val2017 AP": 0.213},
        preprocessing=ssdlite_preparation(320).describe(),
        label_names=coco_bbox_label_names,
        mib=13.418,
        signature=Signature(406, "backbone.extra.3.2.0.weight", (128, 64, 1, 1)),
    )
}
