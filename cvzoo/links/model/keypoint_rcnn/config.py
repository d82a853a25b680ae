"""What a Keypoint R-CNN can be built of, as plain values."""

import dataclasses

from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class PointHeadConfig(AbstractConfig):
    """How a keypoint head is built. Raises ValueRangeError."""

    n_point: int = count_field(17, help="keypoints of an object")
    depth: int = count_field(8, help="3 x 3 convolutions of `channels`", at_least=0)
    channels: int = count_field(512, help="channels of the convolutions")
    roi_size: int = count_field(14, help="cells of a region along a side; the maps have four times as many")


PointHeadSettings = PointHeadConfig  # its name before configs were files' headers, too


@dataclasses.dataclass(frozen=True, kw_only=True)
class KeypointRCNNFPNConfig(AbstractConfig):
    """A Keypoint R-CNN as files describe it; its fields are the constructor's arguments."""

    n_fg_class: int = count_field(help="number of classes")
    settings: FasterRCNNFPNConfig = config_field(help="the network that finds boxes")
    point_settings: PointHeadConfig = config_field(help="the keypoint head")
    point_names: tuple[str, ...] | None = config_field(help="names of the keypoints; None: they have none")
