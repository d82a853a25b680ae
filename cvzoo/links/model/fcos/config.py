"""What an FCOS can be built of, as plain values."""

import dataclasses
from typing import Literal

from cvzoo.links.model.config import AbstractConfig, config_field, count_field


@dataclasses.dataclass(frozen=True, kw_only=True)
class FCOSConfig(AbstractConfig):
    """All that decides how an FCOS is built and how it sees an image. Raises ValueRangeError."""

    n_layer: int = count_field(50, help="layers of the ResNet, see ResNetExtractor", group="backbone")
    base_channels: int = count_field(64, help="channels of the ResNet's first convolution", group="backbone")
    norm: Literal["batch", "frozen", "group"] = config_field(
        "frozen",
        help="normalization of the ResNet: batch (trained), frozen (few images a batch, trained weights) or group",
        group="backbone",
    )
    bn_eps: float = config_field(1e-5, help="epsilon of these normalizations", at_least=0, group="backbone")
    channels: int = count_field(256, help="channels of the pyramid and the heads", group="FPN")
    head_depth: int = count_field(4, help="convolutions in each head before the last", at_least=0, group="heads")
    head_groups: int = count_field(32, help="groups of the group normalizations in the heads", group="heads")
    prior: float = config_field(
        0.01, help="probability that every class starts from in training", above=0, below=1, group="heads"
    )
    radius: float = config_field(
        1.5,
        help="a point may belong to an object if it is nearer to its center than this, see match_places",
        unit="strides",
        above=0,
        group="heads",
    )
    min_size: int = count_field(
        800, help="length of the resized image's short side", unit="pixels", group="preparation"
    )
    max_size: int = count_field(
        1333, help="most that the resized image's long side may have", unit="pixels", group="preparation"
    )
    antialias: bool = config_field(
        False,
        help="images are shrunk as Pillow does; False: by four pixels' bilinear mean, as torchvision's networks expect",
        group="preparation",
    )

    def check_together(self) -> None:
        """Raises ValueRangeError unless groups divide the channels and the sides are in order."""
        self.require(self.channels % self.head_groups == 0, "channels", "divided by head_groups")
        self.require(self.min_size <= self.max_size, "min_size", "positive, and not over max_size")


FCOSSettings = FCOSConfig  # its name before configs were files' headers, too
