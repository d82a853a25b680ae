"""The Faster R-CNNs on pyramids in listings and in files."""

import functools
from collections.abc import Callable, Mapping

from cvzoo.links.chain import Chain
from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.published import (
    FasterRCNNFPNMobileNetV3Large,
    FasterRCNNFPNMobileNetV3Large320,
    FasterRCNNFPNResNet50,
    FasterRCNNFPNResNet101,
    FasterRCNNFPNResNeXt101,
)
from cvzoo.links.model.faster_rcnn_fpn.weights import WEIGHTS
from cvzoo.links.model.zoo_member import Task, ZooMember
from cvzoo.weights.record import Weights

ARCHITECTURES = (Architecture("FasterRCNNFPN", FasterRCNNFPN, FasterRCNNFPNConfig, key="settings"),)
# the longer names first: one begins with the other
_MAKERS = {
    "mobilenet_v3_large_320": FasterRCNNFPNMobileNetV3Large320,
    "mobilenet_v3_large": FasterRCNNFPNMobileNetV3Large,
    "resnext101_32x8d": FasterRCNNFPNResNeXt101,
    "resnet101": FasterRCNNFPNResNet101,
    "resnet50": FasterRCNNFPNResNet50,
}


def members() -> list[ZooMember]:
    """The trained ones."""
    return region_members(WEIGHTS, _MAKERS, "detection")


def region_members(
    weights: Mapping[str, tuple[Weights, FasterRCNNFPNConfig]], makers: Mapping[str, Callable[..., Chain]], task: Task
) -> list[ZooMember]:
    """A member for each record. makers: variant, as names of records begin with it -> constructor."""
    found = []
    for name, (record, _) in weights.items():
        variant = next(variant for variant in makers if name.startswith(f"{variant}_"))
        make = functools.partial(makers[variant], pretrained_model=name.removeprefix(f"{variant}_"))
        found.append(ZooMember(record.name, make, record, (record,), task))
    return found
