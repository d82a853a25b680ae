"""ChainerCV's names in a two-stage detector on a pyramid, and ours; its settings, and its records."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.torchvision_names import as_window, rows_of_classes
from cvzoo.links.model.light_head_rcnn.chainercv_names import own_resnet_names
from cvzoo.weights.record import Weights

_SITE = "https://chainercv-models.preferred.jp/"
_PLACES = (
    (r"extractor/base/(.+)", r"regions/extractor/\1"),
    (r"extractor/(inner|outer)/(\d)/([Wb])", r"regions/fpn/\1/\2/\3"),
    (r"rpn/conv/([Wb])", r"regions/rpn/convs/0/conv/\1"),
    (r"rpn/(loc|conf)/([Wb])", r"regions/rpn/\1/\2"),
    (r"bbox_head/fc1/([Wb])", r"regions/box_head/fcs/0/conv/\1"),
    (r"bbox_head/fc2/([Wb])", r"regions/box_head/fcs/1/conv/\1"),
    (r"bbox_head/(loc|conf)/([Wb])", r"regions/box_head/\1/\2"),
    (r"mask_head/conv([1-4])/conv/([Wb])", r"mask_head/convs/#\1/conv/\2"),
    (r"mask_head/conv5/([Wb])", r"mask_head/up/\1"),
    (r"mask_head/seg/([Wb])", r"mask_head/out/\1"),
)


def chainercv_settings(n_layer: int) -> FasterRCNNFPNSettings:
    """How ChainerCV builds its networks, with Chainer's eps."""
    return FasterRCNNFPNSettings(
        n_layer=n_layer,
        arch="he",
        norm="frozen",
        bn_eps=2e-5,
        anchor_style="chainercv",
        mean=(123.15163084, 115.90288257, 103.0626238),
        std=(1.0, 1.0, 1.0),
    )


def is_chainercv_region_network(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of ChainerCV's Faster or Mask R-CNN on a pyramid."""
    return "extractor/base/conv1/conv/W" in arrays and "bbox_head/conf/W" in arrays


def from_chainercv(arrays: Mapping[str, np.ndarray], *, roi_size: int = 7) -> dict[str, np.ndarray]:
    """The arrays by our names, the background's boxes and masks left out; those without a place keep their names."""
    base = own_resnet_names({name: array for name, array in arrays.items() if name.startswith("extractor/base/")})
    others = {name: array for name, array in arrays.items() if not name.startswith("extractor/base/")}
    named = {}
    for name, array in (base | others).items():
        place = chainercv_place(name)
        named[name if place is None else place] = array
    named = {name: as_window(name, array, roi_size) for name, array in named.items()}
    for leaf in ("W", "b"):
        name = f"regions/box_head/loc/{leaf}"
        n_class = len(named[name]) // 4
        named[name] = rows_of_classes(named[name], np.arange(1, n_class))
        name = f"mask_head/out/{leaf}"
        if name in named:
            named[name] = named[name][1:]
    return named


def chainercv_place(name: str) -> str | None:
    """Our path of an array, None where there is none."""
    for pattern, place in _PLACES:
        match = re.fullmatch(pattern, name)
        if match:
            return re.sub(r"#(\d)", lambda m: str(int(m[1]) - 1), match.expand(place))
    return None


def chainercv_weights(name: str, file: str, *, score: Mapping[str, float]) -> Weights:
    """The record of one of ChainerCV's files."""
    return Weights(
        name=name,
        url=_SITE + file,
        sha256=None,
        licence="not stated; the code is MIT",
        data="COCO train2017, on a backbone from ImageNet-1K",
        data_licence="annotations CC BY 4.0; photos: Flickr's terms, each by its owner; ImageNet terms of access",
        score=score,
        source="ChainerCV, trained by its script of feature pyramids, 2019-03-15",
        label_names=coco_bbox_label_names,
        preprocessing="short side 800, long side at most 1333, bilinear without antialiasing, padded to multiples of "
        "32, RGB; x - (123.15, 115.90, 103.06)",
    )
