"""IoU of run-length encoded masks, for many pairs at once and without decoding."""

import numpy as np

from cvzoo.backends.native.runs import differences_natively
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.rle import RLEs, sums_between
from cvzoo.typing.aliases import Array, ArrayLike, BBox

# Run ends that are merged at once: the temporaries fit into the L2 cache
_BLOCK = 1 << 17


def rle_iou(rles_a: RLEs, rles_b: RLEs, crowd_b: ArrayLike | None = None) -> Array:
    """Intersection over union of every pair of masks.

    rles_a: N masks; rles_b: K masks; crowd_b: (K,) bool, crowd regions of COCO, whose overlap is inter / area_a instead
    Returns (N, K) float64; see `rle_iou_pairs`.
    """
    n, k = len(rles_a), len(rles_b)
    iou = np.zeros((n, k))
    if n and k:
        index_a, index_b = (each.ravel() for each in np.indices((n, k)))
        iou.reshape(-1)[:] = rle_iou_pairs(rles_a, rles_b, index_a, index_b, crowd_b)
    return iou


def rle_iou_pairs(
    rles_a: RLEs,
    rles_b: RLEs,
    index_a: ArrayLike,
    index_b: ArrayLike,
    crowd_b: ArrayLike | None = None,
    *,
    at_least: float = 0.0,
) -> Array:
    """Intersection over union of the pairs of masks rles_a[index_a[p]] and rles_b[index_b[p]].

    rles_a: N masks; rles_b: K masks
    index_a, index_b: (P,) int, not negative
    crowd_b: (K,) bool, crowd regions of COCO, whose overlap is inter / area_a instead
    at_least: overlaps that are below it by an upper bound from the areas may be returned as 0, which saves time
    Returns (P,) float64; 0 where the boxes are disjoint, else -1 where the two sizes differ, as in pycocotools.
    Raises ShapeError if the indices do not match each other or crowd_b does not match rles_b, ValueRangeError if an
    index is out of range.
    """
    index_a, index_b = (np.asarray(each, np.int64) for each in (index_a, index_b))
    if index_a.ndim != 1 or index_a.shape != index_b.shape:
        raise ShapeError("index_a and index_b must be (P,), of the same length", got=(index_a.shape, index_b.shape))
    for index, rles, name in ((index_a, rles_a, "index_a"), (index_b, rles_b, "index_b")):
        if len(index) and not (index.min() >= 0 and index.max() < len(rles)):
            raise ValueRangeError(f"{name} is out of range", expected=f"0 .. {len(rles) - 1}", got=index.max())
    crowd = np.zeros(len(rles_b), bool) if crowd_b is None else np.asarray(crowd_b).astype(bool)
    if crowd.shape != (len(rles_b),):
        raise ShapeError("crowd_b must have one value per mask of rles_b", expected=(len(rles_b),), got=crowd.shape)
    iou = np.zeros(len(index_a))
    near = _intersecting(rles_a.to_bbox(), rles_b.to_bbox(), index_a, index_b)
    a, b = index_a[near], index_b[near]
    unlike = (rles_a.sizes[a] != rles_b.sizes[b]).any(axis=1)
    if unlike.any():
        iou[near[unlike]] = -1
        near, a, b = near[~unlike], a[~unlike], b[~unlike]
    area_a, area_b = rles_a.area()[a], rles_b.area()[b]
    crowd = crowd[b]
    if at_least > 0:
        most = np.minimum(area_a, area_b)
        hope = most >= at_least * np.where(crowd, area_a, area_a + area_b - most) * (1 - 1e-9)
        near, a, b, area_a, area_b, crowd = (each[hope] for each in (near, a, b, area_a, area_b, crowd))
    inter = (area_a + area_b - rle_difference(rles_a, rles_b, a, b)) // 2
    union = np.where(crowd, area_a, area_a + area_b - inter)
    iou[near] = np.divide(inter, union, out=np.zeros(len(inter)), where=inter > 0)
    return iou


def _intersecting(bbox_a: BBox, bbox_b: BBox, index_a: Array, index_b: Array) -> Array:
    """Indices of the pairs whose bounding boxes intersect."""
    alive = np.arange(len(index_a))
    for axis in (1, 0):
        a, b = index_a[alive], index_b[alive]
        low = np.maximum(bbox_a[:, axis][a], bbox_b[:, axis][b])
        high = np.minimum(bbox_a[:, axis + 2][a], bbox_b[:, axis + 2][b])
        alive = alive[low < high]
    return alive


def rle_difference(rles_a: RLEs, rles_b: RLEs, index_a: Array, index_b: Array) -> Array:
    """(P,) int64, the number of pixels in which the masks rles_a[index_a[p]] and rles_b[index_b[p]] differ.

    index_a, index_b: (P,) int64, in range; the two masks of a pair have the same size

    If the run ends of both masks are merged and sorted, the masks differ exactly between the 1st and the 2nd, the 3rd
    and the 4th end and so on, whichever mask each end is from. All pairs of a block are sorted at once: cumulative sums
    over the runs raise the ends of each pair above those of the pair before, for both masks alike. Both masks end at
    their last pixel, so where the numbers of runs differ in parity, one more end at that pixel makes the total even.
    Our own kernel, where there is one, merges the ends of one pair after another instead.
    """
    counted = differences_natively((rles_a.counts, rles_a.offsets), (rles_b.counts, rles_b.offsets), index_a, index_b)
    if counted is not None:
        return counted
    out = np.zeros(len(index_a), np.int64)
    length_a, length_b = np.diff(rles_a.offsets)[index_a], np.diff(rles_b.offsets)[index_b]
    uneven = (length_a + length_b) % 2
    total = np.cumsum(length_a + length_b + uneven)
    pixels = np.cumsum(rles_a.sizes[index_a].prod(axis=1, dtype=np.int64))
    begin = 0
    while begin < len(index_a):
        base, lift = (total[begin - 1], pixels[begin - 1]) if begin else (0, 0)
        end = min(
            int(np.searchsorted(total, base + _BLOCK, side="right")),
            int(np.searchsorted(pixels, lift + np.iinfo(np.int32).max, side="right")),  # int32 sorts fastest
        )
        end = max(end, begin + 1)
        pairs = slice(begin, end)
        ends = [
            _lifted_ends(rles_a, index_a[pairs], length_a[pairs]),
            _lifted_ends(rles_b, index_b[pairs], length_b[pairs]),
            (pixels[pairs] - lift)[uneven[pairs] > 0].astype(np.int32),
        ]
        merged = np.concatenate(ends)
        merged.sort()
        out[pairs] = sums_between(merged[1::2] - merged[0::2], np.append(0, (total[pairs] - base) // 2))
        begin = end
    return out


def _lifted_ends(rles: RLEs, index: Array, length: Array) -> Array:
    """The run ends of the masks of index, each mask's raised by the number of pixels of those before it."""
    first = np.cumsum(length) - length
    run = np.repeat(rles.offsets[index] - first, length)
    run += np.arange(run.size)
    return np.cumsum(rles.counts[run], dtype=np.int32)


def mask_iou(mask_a: ArrayLike, mask_b: ArrayLike) -> Array:
    """Intersection over union of every pair of masks.

    mask_a: (N, H, W) bool; mask_b: (K, H, W) bool
    Returns (N, K) float64 in [0, 1]; 0 where both masks are empty.
    Raises ShapeError if either is not (*, H, W) or their sizes differ.
    """
    mask_a, mask_b = np.asarray(mask_a), np.asarray(mask_b)
    if mask_a.ndim != 3 or mask_b.ndim != 3 or mask_a.shape[1:] != mask_b.shape[1:]:
        raise ShapeError("mask_a and mask_b must be (N, H, W) and (K, H, W)", got=(mask_a.shape, mask_b.shape))
    return rle_iou(RLEs.from_masks(mask_a), RLEs.from_masks(mask_b))
