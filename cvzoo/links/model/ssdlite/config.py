"""Configuration of SSDLite."""

import dataclasses

from cvzoo.backends.image_plan import Resampling
from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.preparation.stretch import Stretch

Ratios = tuple[tuple[float, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SSDLiteConfig(AbstractConfig):
    """What an SSDLite is built from, and its preprocessing. Raises ValueRangeError."""

    insize: int = count_field(
        320, help="height and width that every image is resized to", unit="pixels", at_least=16, group="preparation"
    )
    width: float = config_field(
        1.0, help="multiplier of all channels of MobileNetV3", above=0, at_most=20, group="backbone"
    )
    reduced_tail: bool = config_field(
        True, help="whether MobileNetV3's last stage has half the channels", group="backbone"
    )
    eps: float = config_field(1e-3, help="epsilon of the normalizations", at_least=0, group="backbone")
    extras: tuple[int, ...] = count_field(
        (512, 256, 256, 128),
        help="channels of the maps after MobileNetV3, each with half the side",
        at_least=8,
        group="heads",
    )
    scales: tuple[float, ...] = config_field(
        (0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.0),
        help="the default boxes' sides at each level as fractions of insize, and one more for the last level",
        above=0,
        group="anchors",
    )
    aspect_ratios: Ratios = config_field(
        ((2, 3),) * 6,
        help="of each level's further boxes; each gives a wide and a tall box",
        above=0,
        group="anchors",
    )
    n_candidate: int | None = config_field(
        300, help="maximum number of boxes per class before NMS; None: all", group="decoding"
    )
    limit: int | None = config_field(300, help="maximum number of boxes per image; None: all", group="decoding")

    def check_together(self) -> None:
        """Raises ValueRangeError unless there are scales and ratios for every level."""
        n = 2 + len(self.extras)
        self.require(len(self.scales) == n + 1, "scales", f"{n + 1} shares for {n} levels")
        self.require(len(self.aspect_ratios) == n, "aspect_ratios", f"ratios for {n} levels")

    @property
    def grids(self) -> tuple[int, ...]:
        """The side of each level's map, the finest first."""
        grids = [-(-self.insize // 16)]
        for _ in range(1 + len(self.extras)):
            grids.append((grids[-1] + 1) // 2)
        return tuple(grids)


SSDLiteSettings = SSDLiteConfig  # its name before configs were files' headers, too


def ssdlite_preparation(insize: int) -> Stretch:
    """Resized to a square without antialiasing, in [-1, 1]."""
    return Stretch(
        (insize, insize),
        mean=(127.5, 127.5, 127.5),
        std=(127.5, 127.5, 127.5),
        arithmetic="x * (1 / std) - mean / std",
        resampling=Resampling.BILINEAR,
    )
