"""What a RetinaNet can be built of, as plain values."""

import dataclasses
from typing import Literal

from cvzoo.links.model.config import AbstractConfig, config_field, count_field

Sizes = tuple[tuple[float, ...], ...]
_USUAL_SIZES = tuple(tuple(round(s * 2 ** (k / 3), 2) for k in range(3)) for s in (32, 64, 128, 256, 512))


@dataclasses.dataclass(frozen=True, kw_only=True)
class RetinaNetConfig(AbstractConfig):
    """All that decides how a RetinaNet is built and how it sees an image. Raises ValueRangeError."""

    n_layer: int = count_field(50, help="layers of the ResNet, see ResNetExtractor", group="backbone")
    base_channels: int = count_field(64, help="channels of the ResNet's first convolution", group="backbone")
    arch: Literal["v1.5", "he"] = config_field(
        "v1.5", help="where a ResNet block has its stride: v1.5: 3 x 3 convolution; he: first one", group="backbone"
    )
    norm: Literal["batch", "frozen", "group"] = config_field(
        "batch",
        help="normalization of the ResNet: batch (trained), frozen (few images a batch, trained weights) or group",
        group="backbone",
    )
    bn_eps: float = config_field(1e-5, help="epsilon of these normalizations", at_least=0, group="backbone")
    first_level: int = config_field(
        3,
        help="finest level of the pyramid, 3 for P3 of stride 8",
        at_least=2,
        at_most=5,
        group="FPN",
    )
    last_level: int = config_field(7, help="coarsest level of the pyramid", at_least=5, at_most=7, group="FPN")
    extra_from: Literal["P5", "C5"] = config_field("P5", help="which map P6 is made of", group="FPN")
    channels: int = count_field(256, help="channels of the pyramid and the heads", group="FPN")
    head_depth: int = count_field(4, help="convolutions in each head before the last", at_least=0, group="heads")
    head_groups: int | None = count_field(
        None, help="groups of the group normalizations in the heads; None: the heads have none", group="heads"
    )
    anchor_sizes: Sizes = config_field(
        _USUAL_SIZES,
        help="for each level the square roots of the anchors' areas",
        unit="pixels of the network's input",
        group="anchors",
    )
    anchor_ratios: tuple[float, ...] = config_field(
        (0.5, 1.0, 2.0), help="heights over widths of the anchors", above=0, group="anchors"
    )
    anchor_rounded: bool = config_field(False, help="the anchors' corners are whole pixels", group="anchors")
    prior: float = config_field(
        0.01, help="probability that every anchor starts from in training", above=0, below=1, group="heads"
    )
    min_size: int = count_field(
        800, help="length of the resized image's short side", unit="pixels", group="preparation"
    )
    max_size: int = count_field(
        1333, help="most that the resized image's long side may have", unit="pixels", group="preparation"
    )
    antialias: bool = config_field(
        True,
        help="images are shrunk as Pillow does; False: by four pixels' bilinear mean, as torchvision's networks expect",
        group="preparation",
    )

    def check_together(self) -> None:
        """Raises ValueRangeError unless every level has as many anchors and the sides are in order."""
        self.require(len(self.anchor_sizes) == self.n_level, "anchor_sizes", f"sizes for {self.n_level} levels")
        self.require(len({len(sizes) for sizes in self.anchor_sizes}) == 1, "anchor_sizes", "as many at every level")
        self.require(self.min_size <= self.max_size, "min_size", "positive, and not over max_size")

    @property
    def n_level(self) -> int:
        """How many maps there are."""
        return self.last_level - self.first_level + 1

    @property
    def n_anchor(self) -> int:
        """How many anchors a place has."""
        return len(self.anchor_sizes[0]) * len(self.anchor_ratios)


RetinaNetSettings = RetinaNetConfig  # its name before configs were files' headers, too


def with_n_anchor(config: RetinaNetConfig, n_anchor: int) -> RetinaNetConfig:
    """The same with so many anchors of any sizes in a place: the arrays of a network tell of no more."""
    sizes = ((32.0,) * n_anchor,) * config.n_level
    return dataclasses.replace(config, anchor_sizes=sizes, anchor_ratios=(1.0,))
