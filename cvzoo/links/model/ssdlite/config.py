"""What an SSDLite can be built of, as plain values."""

import dataclasses

from cvzoo.backends.photo_plan import Resampling
from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.preparation.stretch import Stretch

Ratios = tuple[tuple[float, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SSDLiteConfig(AbstractConfig):
    """All that decides how an SSDLite on MobileNetV3 is built and how it sees an image. Raises ValueRangeError."""

    insize: int = count_field(
        320, help="height and width that every image is stretched to", unit="pixels", at_least=16, group="preparation"
    )
    width: float = config_field(
        1.0, help="of MobileNetV3, all of whose channels are multiplied by it", above=0, at_most=20, group="backbone"
    )
    reduced_tail: bool = config_field(True, help="half the channels in MobileNetV3's last stage", group="backbone")
    eps: float = config_field(1e-3, help="epsilon of the normalizations", at_least=0, group="backbone")
    extras: tuple[int, ...] = count_field(
        (512, 256, 256, 128),
        help="channels of the maps behind MobileNetV3, each of half the side",
        at_least=8,
        group="heads",
    )
    scales: tuple[float, ...] = config_field(
        (0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.0),
        help="the default boxes' sides at each level as shares of insize, and one more for the last level",
        above=0,
        group="anchors",
    )
    aspect_ratios: Ratios = config_field(
        ((2, 3),) * 6,
        help="of each level's further boxes, each of which stands for a wide and a tall one",
        above=0,
        group="anchors",
    )
    n_candidate: int | None = config_field(
        300, help="of a class, at most this many boxes enter NMS; None: all", group="decoding"
    )
    limit: int | None = config_field(300, help="boxes that an image keeps at most; None: all", group="decoding")

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
    """Stretched without antialiasing, in [-1, 1]."""
    return Stretch(
        (insize, insize),
        mean=(127.5,) * 3,
        std=(127.5,) * 3,
        arithmetic="x * (1 / std) - mean / std",
        resampling=Resampling.BILINEAR,
    )
