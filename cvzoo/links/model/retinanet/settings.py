"""What a RetinaNet can be built of, as plain values."""

import dataclasses
from typing import Literal

from cvzoo.errors.exceptions import ValueRangeError

Sizes = tuple[tuple[float, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RetinaNetSettings:
    """All that decides how a RetinaNet is built and how it sees a photo; it checks itself.

    n_layer, base_channels, arch: of the ResNet (see `ResNetExtractor`)
    norm: of the ResNet: "batch" (trained), "frozen" (for few photos a batch, with weights that were trained) or "group"
    bn_eps: of these normalizations
    first_level: 3: the finest map is P3, of stride 8; 2: P2, of stride 4
    last_level: the coarsest map, 5 to 7
    extra_from: P6 is made of "P5" or of "C5"
    channels: of the pyramid and the heads
    head_depth: convolutions in each head before the last
    head_groups: groups of the group normalizations in the heads; None: the heads have none
    anchor_sizes: for each level the square roots of the anchors' areas, pixels of the network's input
    anchor_ratios: heights over widths of the anchors
    anchor_rounded: the anchors' corners are whole pixels
    prior: the probability that every anchor starts from in training
    min_size, max_size: a photo is resized so that its short side is min_size, unless its long side would pass max_size
    antialias: photos are shrunk as Pillow does; False: by four pixels' bilinear mean, as torchvision's networks expect
    Raises ValueRangeError.
    """

    n_layer: int = 50
    base_channels: int = 64
    arch: Literal["v1.5", "he"] = "v1.5"
    norm: Literal["batch", "frozen", "group"] = "batch"
    bn_eps: float = 1e-5
    first_level: int = 3
    last_level: int = 7
    extra_from: Literal["P5", "C5"] = "P5"
    channels: int = 256
    head_depth: int = 4
    head_groups: int | None = None
    anchor_sizes: Sizes = tuple(tuple(round(s * 2 ** (k / 3), 2) for k in range(3)) for s in (32, 64, 128, 256, 512))
    anchor_ratios: tuple[float, ...] = (0.5, 1.0, 2.0)
    anchor_rounded: bool = False
    prior: float = 0.01
    min_size: int = 800
    max_size: int = 1333
    antialias: bool = True

    def __post_init__(self) -> None:
        # what comes from JSON has lists
        object.__setattr__(self, "anchor_sizes", tuple(tuple(sizes) for sizes in self.anchor_sizes))
        object.__setattr__(self, "anchor_ratios", tuple(self.anchor_ratios))
        self._check(self.first_level in (2, 3, 4, 5), "first_level", "2 to 5")
        self._check(5 <= self.last_level <= 7, "last_level", "5, 6 or 7")
        self._check(len(self.anchor_sizes) == self.n_level, "anchor_sizes", f"sizes for {self.n_level} levels")
        self._check(len({len(sizes) for sizes in self.anchor_sizes}) == 1, "anchor_sizes", "as many at every level")
        self._check(0 < self.prior < 1, "prior", "a probability")
        self._check(0 < self.min_size <= self.max_size, "min_size", "positive, and not over max_size")
        self._check(self.extra_from in ("P5", "C5"), "extra_from", "'P5' or 'C5'")
        self._check(self.channels > 0 and self.head_depth >= 0, "channels", "positive, and head_depth not negative")

    def _check(self, right: bool, name: str, expected: str) -> None:
        if not right:
            raise ValueRangeError(f"RetinaNetSettings: {name}", expected=expected, got=repr(self.__dict__[name])[:80])

    @property
    def n_level(self) -> int:
        """How many maps there are."""
        return self.last_level - self.first_level + 1

    @property
    def n_anchor(self) -> int:
        """How many anchors a place has."""
        return len(self.anchor_sizes[0]) * len(self.anchor_ratios)


def with_n_anchor(settings: RetinaNetSettings, n_anchor: int) -> RetinaNetSettings:
    """The same with so many anchors of any sizes in a place: the arrays of a network tell of no more."""
    sizes = ((32.0,) * n_anchor,) * settings.n_level
    return dataclasses.replace(settings, anchor_sizes=sizes, anchor_ratios=(1.0,))
