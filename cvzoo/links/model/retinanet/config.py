"""Configuration of RetinaNet."""

import dataclasses
from typing import Literal

from cvzoo.links.model.config import AbstractConfig, config_field, count_field

Sizes = tuple[tuple[float, ...], ...]
_USUAL_SIZES = tuple(tuple(round(s * 2 ** (k / 3), 2) for k in range(3)) for s in (32, 64, 128, 256, 512))


@dataclasses.dataclass(frozen=True, kw_only=True)
class RetinaNetConfig(AbstractConfig):
    """What a RetinaNet is built from, and its preprocessing. Raises ValueRangeError."""

    n_layer: int = count_field(50, help="depth of the ResNet, see ResNetExtractor", group="backbone")
    base_channels: int = count_field(64, help="channels of the ResNet's first convolution", group="backbone")
    arch: Literal["v1.5", "he"] = config_field(
        "v1.5",
        help="which convolution of a ResNet block has the stride: v1.5: the 3 x 3 one; he: the first",
        group="backbone",
    )
    norm: Literal["batch", "frozen", "group"] = config_field(
        "batch",
        help="normalization of the ResNet: batch (trained), frozen (small batches, pretrained weights) or group",
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
    extra_from: Literal["P5", "C5"] = config_field("P5", help="which map P6 is computed from", group="FPN")
    channels: int = count_field(256, help="channels of the pyramid and the heads", group="FPN")
    head_depth: int = count_field(4, help="convolutions in each head before the last", at_least=0, group="heads")
    head_groups: int | None = count_field(
        None, help="groups of the heads' group normalization; None: no normalization", group="heads"
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
    anchor_rounded: bool = config_field(
        False, help="whether the anchors' corners are rounded to whole pixels", group="anchors"
    )
    prior: float = config_field(
        0.01, help="initial probability of every anchor in training", above=0, below=1, group="heads"
    )
    min_size: int = count_field(800, help="short side of the resized image", unit="pixels", group="preparation")
    max_size: int = count_field(1333, help="maximum long side of the resized image", unit="pixels", group="preparation")
    antialias: bool = config_field(
        True,
        help="whether images are resized with antialiasing, as Pillow does; False: bilinear, as in torchvision",
        group="preparation",
    )

    def check_together(self) -> None:
        """Raises ValueRangeError unless every level has as many anchors and the sides are in order."""
        self.require(len(self.anchor_sizes) == self.n_level, "anchor_sizes", f"sizes for {self.n_level} levels")
        self.require(len({len(sizes) for sizes in self.anchor_sizes}) == 1, "anchor_sizes", "as many at every level")
        self.require(self.min_size <= self.max_size, "min_size", "positive, and not over max_size")

    @property
    def n_level(self) -> int:
        """The number of levels."""
        return self.last_level - self.first_level + 1

    @property
    def n_anchor(self) -> int:
        """The number of anchors per position."""
        return len(self.anchor_sizes[0]) * len(self.anchor_ratios)


RetinaNetSettings = RetinaNetConfig  # its name before configs were files' headers, too


def with_n_anchor(config: RetinaNetConfig, n_anchor: int) -> RetinaNetConfig:
    """The same with n anchors of any sizes per position: the arrays of a network determine no more."""
    sizes = ((32.0,) * n_anchor,) * config.n_level
    return dataclasses.replace(config, anchor_sizes=sizes, anchor_ratios=(1.0,))
