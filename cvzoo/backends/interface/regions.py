"""Kernels of regions of feature maps."""

from collections.abc import Sequence
from typing import Any, Protocol

from cvzoo.backends.interface.array_types import Array
from cvzoo.backends.regions import Regions


class RegionKernels(Protocol):
    """maps: (B, C * group ** 2, H, W) of each level; results are channels-last."""

    def roi_means(self, maps: Sequence[Array], rois: Regions) -> Array:
        """(R, C, OH, OW): each cell the mean of what it sees, 0 where that is nothing."""

    def roi_greatest(self, maps: Sequence[Array], rois: Regions, *, remember: bool) -> tuple[Array, Any]:
        """(R, C, OH, OW): each cell the greatest it sees, 0 where that is nothing; and, to remember where the first of
        the greatest was, what the other functions take as `best`, else None."""

    def roi_picked(self, maps: Sequence[Array], rois: Regions, best: Any) -> Array:
        """(R, C, OH, OW): what lies where `roi_greatest` found the greatest, in other maps."""

    def roi_grad(
        self, gy: Array, rois: Regions, shapes: Sequence[tuple[int, ...]], best: Any = None
    ) -> tuple[Array, ...]:
        """The gradient of each level's maps, of `shapes`; gy: (R, C, OH, OW); best: None for means.

        With config.deterministic, and always on a processor, each number is a sum in the order of the regions.
        """

    def region_levels(self, bbox: Array, first: int, last: int) -> Array:
        """(R,): which level each box (R, 4) looks at, 0 for the level `first`; one of side 224 looks at level 4.

        Source: Lin et al., Feature Pyramid Networks, CVPR 2017, equation 1, in float32, 1e-6 added to the logarithm.
        """
