"""What an SSD can be built of, as plain values."""

import dataclasses
from typing import Literal

from cvzoo.errors.exceptions import ValueRangeError

Extra = Literal["halve", "valid", "valid4"]
_EXTRAS = ("halve", "valid", "valid4")
Ratios = tuple[tuple[float, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SSDSettings:
    """All that decides how an SSD on VGG16 is built and how it sees a photo; it checks itself.

    insize: height and width that every photo is stretched to
    base_channels: of VGG16's first convolution; 64 in the paper, and all others in proportion
    extras: the levels after conv7, each a 1 x 1 and then a 3 x 3 convolution: "halve" of stride 2, "valid" without a
        margin; "valid4" with 4 x 4
    sizes: the default boxes' sides at each level, pixels of the network's input, and one more for the last level
    aspect_ratios: of each level's further boxes, each of which stands for a wide and a tall one
    steps: pixels between the places of each level; None: insize over the map's side
    variance: of the offsets of centres and of the logarithms of sides
    mean: of RGB in [0, 255], which is taken away
    antialias: photos are shrunk as Pillow does; False: by four pixels' bilinear mean, as Caffe's and torchvision's
        networks expect
    cut_sides: default boxes are no larger than the photo
    clip: boxes are cut at the photo's edges before the suppression
    n_candidate: of a class, at most so many boxes go into the suppression; None: all
    limit: boxes that a photo keeps at most; None: all
    Raises ValueRangeError.
    """

    insize: int = 300
    base_channels: int = 64
    extras: tuple[Extra, ...] = ("halve", "halve", "valid", "valid")
    sizes: tuple[float, ...] = (30, 60, 111, 162, 213, 264, 315)
    aspect_ratios: Ratios = ((2,), (2, 3), (2, 3), (2, 3), (2,), (2,))
    steps: tuple[float, ...] | None = (8, 16, 32, 64, 100, 300)
    variance: tuple[float, float] = (0.1, 0.2)
    mean: tuple[float, float, float] = (123.0, 117.0, 104.0)
    antialias: bool = False
    cut_sides: bool = False
    clip: bool = False
    n_candidate: int | None = 400
    limit: int | None = 200

    def __post_init__(self) -> None:
        # what comes from JSON has lists
        for name in ("extras", "sizes", "variance", "mean"):
            object.__setattr__(self, name, tuple(self.__dict__[name]))
        object.__setattr__(self, "aspect_ratios", tuple(map(tuple, self.aspect_ratios)))
        object.__setattr__(self, "steps", None if self.steps is None else tuple(self.steps))
        n = self.n_level
        self._check(self.insize >= 16 and self.base_channels > 0, "insize", "at least 16, and base_channels positive")
        self._check(all(extra in _EXTRAS for extra in self.extras), "extras", "each 'halve', 'valid' or 'valid4'")
        self._check(len(self.sizes) == n + 1, "sizes", f"{n + 1} sides for {n} levels")
        self._check(all(size > 0 for size in self.sizes), "sizes", "positive sides")
        self._check(len(self.aspect_ratios) == n, "aspect_ratios", f"ratios for {n} levels")
        self._check(self.steps is None or len(self.steps) == n, "steps", f"steps for {n} levels")
        self._check(len(self.variance) == 2 and min(self.variance) > 0, "variance", "two positive numbers")
        self._check(len(self.mean) == 3, "mean", "three numbers")
        self._check(self.grids[-1] > 0, "extras", f"maps that are not empty at insize={self.insize}")

    def _check(self, right: bool, name: str, expected: str) -> None:
        if not right:
            raise ValueRangeError(f"SSDSettings: {name}", expected=expected, got=repr(self.__dict__[name])[:80])

    @property
    def n_level(self) -> int:
        """How many maps have default boxes."""
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


SSD300_SETTINGS = SSDSettings()
SSD512_SETTINGS = SSDSettings(
    insize=512,
    extras=("halve", "halve", "halve", "halve", "valid4"),
    sizes=(35.84, 76.8, 153.6, 230.4, 307.2, 384.0, 460.8, 537.6),
    aspect_ratios=((2,), (2, 3), (2, 3), (2, 3), (2, 3), (2,), (2,)),
    steps=(8, 16, 32, 64, 128, 256, 512),
)
# torchvision's: scales of .07 to 1.05 of the side, and boxes that stay in the photo
SSD300_TORCHVISION = SSDSettings(
    sizes=(21, 45, 99, 153, 207, 261, 315),
    mean=(0.48235 * 255, 0.45882 * 255, 0.40784 * 255),
    cut_sides=True,
    clip=True,
)
