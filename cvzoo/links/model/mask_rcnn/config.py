"""What a Mask R-CNN can be built of, as plain values."""

import dataclasses
from typing import Literal

from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaskHeadConfig(AbstractConfig):
    """How a mask head is built, and how its masks become the image's. Raises ValueRangeError."""

    depth: int = count_field(4, help="3 x 3 convolutions of `channels`", at_least=0)
    channels: int = count_field(256, help="channels of the convolutions")
    roi_size: int = count_field(14, help="cells of a region along a side; the mask has twice as many")
    paste: Literal["whole", "exact"] = config_field(
        "whole",
        help="whole: boxes are widened to whole pixels, as in torchvision; exact: as they are, as in detectron2",
    )


MaskHeadSettings = MaskHeadConfig  # its name before configs were files' headers, too


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaskRCNNFPNConfig(AbstractConfig):
    """A Mask R-CNN as files describe it; its fields are the constructor's arguments."""

    n_fg_class: int = count_field(help="number of classes")
    settings: FasterRCNNFPNConfig = config_field(help="the network that finds boxes")
    mask_settings: MaskHeadConfig = config_field(help="the mask head")
