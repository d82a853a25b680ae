"""Configuration of SSD."""

import dataclasses
from typing import Literal

from cvzoo.backends.image_plan import Resampling
from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.preparation.stretch import Stretch

Extra = Literal["halve", "valid", "valid4"]
Ratios = tuple[tuple[float, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SSDConfig(AbstractConfig):
    """What an SSD is built from, and its preprocessing. Raises ValueRangeError."""

    insize: int = count_field(
        300, help="height and width that every image is resized to", unit="pixels", at_least=16, group="preparation"
    )
    base_channels: int = count_field(
        64, help="channels of VGG16's first convolution; the others in proportion", group="backbone"
    )
    extras: tuple[Extra, ...] = config_field(
        ("halve", "halve", "valid", "valid"),
        help="the levels after conv7, each a 1 x 1 and then a 3 x 3 convolution: halve: of stride 2; valid: without "
        "padding; valid4: the same with 4 x 4",
        group="backbone",
    )
    sizes: tuple[float, ...] = config_field(
        (30, 60, 111, 162, 213, 264, 315),
        help="the default boxes' sides at each level, and one more for the last level",
        unit="pixels of the network's input",
        above=0,
        group="anchors",
    )
    aspect_ratios: Ratios = config_field(
        ((2,), (2, 3), (2, 3), (2, 3), (2,), (2,)),
        help="of each level's further boxes; each gives a wide and a tall box",
        above=0,
        group="anchors",
    )
    steps: tuple[float, ...] | None = config_field(
        (8, 16, 32, 64, 100, 300),
        help="distance between the cells of each level; None: insize over the map's side",
        unit="pixels",
        above=0,
        group="anchors",
    )
    variance: tuple[float, float] = config_field(
        (0.1, 0.2), help="variance of the offsets of centers and of the logarithms of sides", above=0, group="anchors"
    )
    mean: tuple[float, float, float] = config_field(
        (123.0, 117.0, 104.0), help="mean of RGB in [0, 255], which is subtracted", group="preparation"
    )
    antialias: bool = config_field(
        False,
        help="whether images are resized with antialiasing; False: bilinear without it, as in Caffe and torchvision",
        group="preparation",
    )
    cut_sides: bool = config_field(False, help="whether default boxes are limited to the image's size", group="anchors")
    clip: bool = config_field(False, help="whether boxes are clipped to the image before NMS", group="decoding")
    n_candidate: int | None = config_field(
        400, help="maximum number of boxes per class before NMS; None: all", group="decoding"
    )
    limit: int | None = config_field(200, help="maximum number of boxes per image; None: all", group="decoding")

    def check_together(self) -> None:
        """Raises ValueRangeError unless there are sizes, ratios and steps for every level, and no map is empty."""
        n = self.n_level
        self.require(len(self.sizes) == n + 1, "sizes", f"{n + 1} sides for {n} levels")
        self.require(len(self.aspect_ratios) == n, "aspect_ratios", f"ratios for {n} levels")
        self.require(self.steps is None or len(self.steps) == n, "steps", f"steps for {n} levels")
        self.require(self.grids[-1] > 0, "extras", f"maps that are not empty at insize={self.insize}")

    @property
    def n_level(self) -> int:
        """The number of feature maps with default boxes."""
        return 2 + len(self.extras)

    @property
    def grids(self) -> tuple[int, ...]:
        """The side of each level's map, the finest first."""
        half = -(-self.insize // 8)  # three poolings that round up
        grids = [half, -(-half // 2)]
        for extra in self.extras:
            last = grids[-1]
            grids.append({"halve": (last + 1) // 2, "valid": last - 2, "valid4": last - 1}[extra])
        return tuple(grids)


SSDSettings = SSDConfig  # its name before configs were files' headers, too

SSD300_SETTINGS = SSDConfig()
SSD512_SETTINGS = SSDConfig(
    insize=512,
    extras=("halve", "halve", "halve", "halve", "valid4"),
    sizes=(35.84, 76.8, 153.6, 230.4, 307.2, 384.0, 460.8, 537.6),
    aspect_ratios=((2,), (2, 3), (2, 3), (2, 3), (2, 3), (2,), (2,)),
    steps=(8, 16, 32, 64, 128, 256, 512),
)
# torchvision's: scales of .07 to 1.05 of the side, and boxes that stay in the image
SSD300_TORCHVISION = SSDConfig(
    sizes=(21, 45, 99, 153, 207, 261, 315),
    mean=(0.48235 * 255, 0.45882 * 255, 0.40784 * 255),
    cut_sides=True,
    clip=True,
)


def ssd_preparation(config: SSDConfig) -> Stretch:
    """Resized to a square, less the mean."""
    how = Resampling.ANTIALIASED if config.antialias else Resampling.BILINEAR
    # headers say "bilinear" of both
    header = ("channels", "mean", "std", "size", ("interpolation", "bilinear"))
    return Stretch((config.insize, config.insize), mean=config.mean, resampling=how, header=header)
