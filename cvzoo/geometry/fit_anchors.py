"""Anchor sizes and aspect ratios fitted to a data set."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.best_anchor_iou import best_anchor_iou
from cvzoo.typing.aliases import Array, BBox

# Step factors of the coordinate search, coarse ones first
_STEPS = (1.6, 1.3, 1.15, 1.07, 1.03)
# A random sample of this many boxes gives the same anchors
_ENOUGH = 3000


class AnchorFit(NamedTuple):
    """Fitted anchors. sizes: square roots of the areas by level, pixels; ratios: heights over widths, ascending."""

    sizes: tuple[tuple[float, ...], ...]
    ratios: tuple[float, ...]


def fit_anchors(
    bbox: Array,
    strides: Sequence[float],
    *,
    n_size: int = 3,
    n_ratio: int = 3,
    thresh: float = 0.5,
    seed: int = 0,
) -> AnchorFit:
    """Anchor sizes and ratios of a feature pyramid, chosen so that most boxes have an anchor with IoU >= thresh.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the network's input
    strides: of the levels, the finest first
    n_size, n_ratio: number of sizes per level and of ratios per size
    seed: of the random subset that is used where there are more than 3000 boxes
    Sizes have RetinaNet's form: a smallest one, times 2 ** (k / n_size) within a level, times the ratio of the strides
    from level to level. The free parameters, that size and the ratios, are found by coordinate search; the objective
    is the recall at `thresh` plus a fifth of the mean IoU.
    Raises ValueRangeError if no box has an area, or a count is not positive.
    """
    bbox = as_bbox(bbox).astype(np.float32, copy=False)
    side = bbox[:, 2:] - bbox[:, :2]
    bbox = bbox[(side > 0).all(axis=1) & np.isfinite(bbox).all(axis=1)]
    if not len(bbox) or min(n_size, n_ratio) < 1:
        raise ValueRangeError(
            "fit_anchors needs boxes with an area, and positive n_size and n_ratio", got=(len(bbox), n_size, n_ratio)
        )
    if len(bbox) > _ENOUGH:
        bbox = bbox[np.random.default_rng(seed).choice(len(bbox), _ENOUGH, replace=False)]
    side = bbox[:, 2:] - bbox[:, :2]
    shape = np.sort(np.log(side[:, 0] / side[:, 1]))
    quantiles = np.quantile(shape, (np.arange(n_ratio) + 0.5) / n_ratio)
    smallest = float(np.sqrt(side.prod(axis=1)).min())
    starts = [float(strides[0]) * factor for factor in (1.5, 2.5, 4.0)] + [max(smallest, 2.0)]
    fits = [_climbed(bbox, [math.log(start), *quantiles], strides, n_size, thresh) for start in starts]
    best = max(fits, key=lambda fit: fit[0])[1]
    return _unpacked(best, strides, n_size)


def _unpacked(values: Sequence[float], strides: Sequence[float], n_size: int) -> AnchorFit:
    smallest, *shapes = values
    sizes = tuple(
        tuple(round(math.exp(smallest) * stride / strides[0] * 2 ** (k / n_size), 2) for k in range(n_size))
        for stride in strides
    )
    return AnchorFit(sizes, tuple(sorted(float(f"{math.exp(shape):.3g}") for shape in shapes)))


def _climbed(
    bbox: BBox, values: Sequence[float], strides: Sequence[float], n_size: int, thresh: float
) -> tuple[float, list[float]]:
    """(score, values) of the coordinate search: each logarithm is changed as long as the score improves."""

    def score(values: Sequence[float]) -> float:
        fit = _unpacked(values, strides, n_size)
        iou = best_anchor_iou(bbox, fit.sizes, fit.ratios, strides)
        return float((iou >= thresh).mean()) + 0.2 * float(iou.mean())

    values, best = list(values), score(values)
    for step in _STEPS:
        moved = True
        while moved:
            moved = False
            for i in range(len(values)):
                for sign in (1, -1):
                    tried = list(values)
                    tried[i] += sign * math.log(step)
                    now = score(tried)
                    if now > best + 1e-6:
                        values, best, moved = tried, now, True
    return best, values
