"""What an SSDLite can be built of, as plain values."""

import dataclasses

from cvzoo.errors.exceptions import ValueRangeError

Ratios = tuple[tuple[float, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SSDLiteSettings:
    """All that decides how an SSDLite on MobileNetV3 is built and how it sees a photo; it checks itself.

    insize: height and width that every photo is stretched to
    width: of MobileNetV3, all of whose channels are multiplied by it
    reduced_tail: half the channels in MobileNetV3's last stage
    eps: of the normalizations
    extras: channels of the maps behind MobileNetV3, each of half the side
    scales: the default boxes' sides at each level as shares of insize, and one more for the last level
    aspect_ratios: of each level's further boxes, each of which stands for a wide and a tall one
    n_candidate: of a class, at most so many boxes go into the suppression; None: all
    limit: boxes that a photo keeps at most; None: all
    Raises ValueRangeError.
    """

    insize: int = 320
    width: float = 1.0
    reduced_tail: bool = True
    eps: float = 1e-3
    extras: tuple[int, ...] = (512, 256, 256, 128)
    scales: tuple[float, ...] = (0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.0)
    aspect_ratios: Ratios = ((2, 3),) * 6
    n_candidate: int | None = 300
    limit: int | None = 300

    def __post_init__(self) -> None:
        # what comes from JSON has lists
        for name in ("extras", "scales"):
            object.__setattr__(self, name, tuple(self.__dict__[name]))
        object.__setattr__(self, "aspect_ratios", tuple(map(tuple, self.aspect_ratios)))
        n = 2 + len(self.extras)
        self._check(self.insize >= 16, "insize", "at least 16")
        self._check(self.width > 0, "width", "positive")
        self._check(all(channels >= 8 for channels in self.extras), "extras", "at least 8 channels each")
        self._check(len(self.scales) == n + 1 and min(self.scales) > 0, "scales", f"{n + 1} shares for {n} levels")
        self._check(len(self.aspect_ratios) == n, "aspect_ratios", f"ratios for {n} levels")

    def _check(self, right: bool, name: str, expected: str) -> None:
        if not right:
            raise ValueRangeError(f"SSDLiteSettings: {name}", expected=expected, got=repr(self.__dict__[name])[:80])

    @property
    def grids(self) -> tuple[int, ...]:
        """The side of each level's map, the finest first."""
        grids = [-(-self.insize // 16)]
        for _ in range(1 + len(self.extras)):
            grids.append((grids[-1] + 1) // 2)
        return tuple(grids)
