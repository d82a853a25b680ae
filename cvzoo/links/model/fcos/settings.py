"""What an FCOS can be built of, as plain values."""

import dataclasses
from typing import Literal

from cvzoo.errors.exceptions import ValueRangeError


@dataclasses.dataclass(frozen=True, kw_only=True)
class FCOSSettings:
    """All that decides how an FCOS is built and how it sees a photo; it checks itself.

    n_layer, base_channels: of the ResNet (see `ResNetExtractor`)
    norm: of the ResNet: "batch" (trained), "frozen" (for few photos a batch, with weights that were trained) or "group"
    bn_eps: of these normalizations
    channels: of the pyramid and the heads
    head_depth: convolutions in each head before the last
    head_groups: groups of the group normalizations in the heads
    prior: the probability that every class starts from in training
    radius: a place may belong to an object if it is nearer to its middle than so many strides, see `match_places`
    min_size, max_size: a photo is resized so that its short side is min_size, unless its long side would pass max_size
    antialias: photos are shrunk as Pillow does; False: by four pixels' bilinear mean, as torchvision's networks expect
    Raises ValueRangeError.
    """

    n_layer: int = 50
    base_channels: int = 64
    norm: Literal["batch", "frozen", "group"] = "frozen"
    bn_eps: float = 1e-5
    channels: int = 256
    head_depth: int = 4
    head_groups: int = 32
    prior: float = 0.01
    radius: float = 1.5
    min_size: int = 800
    max_size: int = 1333
    antialias: bool = False

    def __post_init__(self) -> None:
        self._check(self.channels > 0 and self.channels % self.head_groups == 0, "channels", "divided by head_groups")
        self._check(self.head_depth >= 0, "head_depth", "not negative")
        self._check(0 < self.prior < 1, "prior", "a probability")
        self._check(self.radius > 0, "radius", "positive")
        self._check(0 < self.min_size <= self.max_size, "min_size", "positive, and not over max_size")

    def _check(self, right: bool, name: str, expected: str) -> None:
        if not right:
            raise ValueRangeError(f"FCOSSettings: {name}", expected=expected, got=repr(self.__dict__[name])[:80])
