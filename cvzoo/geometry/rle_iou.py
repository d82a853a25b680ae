"""Overlaps of run-length encoded masks, for many pairs at once and without decoding them."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.rle import sums_between

# Ends of runs that are merged at once: the temporaries stay in a level-2 cache
_BLOCK = 1 << 17


def rle_iou(rles_a, rles_b, crowd_b=None):
    """Intersection over union of every pair of masks.

    rles_a: N masks; rles_b: K masks; crowd_b: (K,) bool, those whose overlap is inter / area_a instead (COCO's crowds)
    Returns (N, K) float64; see `rle_iou_pairs`.
    """
    n, k = len(rles_a), len(rles_b)
    iou = np.zeros((n, k))
    if n and k:
        index_a, index_b = (each.ravel() for each in np.indices((n, k)))
        iou.reshape(-1)[:] = rle_iou_pairs(rles_a, rles_b, index_a, index_b, crowd_b)
    return iou


def rle_iou_pairs(rles_a, rles_b, index_a, index_b, crowd_b=None, *, at_least=0.0):
    """Intersection over union of the masks rles_a[index_a[p]] and rles_b[index_b[p]], for each p.

    rles_a: N masks; rles_b: K masks
    index_a, index_b: (P,) int, without negative ones
    crowd_b: (K,) bool, those whose overlap is inter / area_a instead (COCO's crowds)
    at_least: overlaps that the boxes and areas prove to be below it may be returned as 0, which saves time
    Returns (P,) float64; 0 where the bounding boxes do not meet, else -1 where the two sizes differ, as pycocotools.
    Raises ShapeError if the indices do not match each other or crowd_b does not match rles_b, ValueRangeError if an
    index is out of range.
    """
    index_a, index_b = (np.asarray(each, np.int64) for each in (index_a, index_b))
    if index_a.ndim != 1 or index_a.shape != index_b.shape:
        raise ShapeError("index_a and index_b must be one row each, equally long", got=(index_a.shape, index_b.shape))
    for index, rles, name in ((index_a, rles_a, "index_a"), (index_b, rles_b, "index_b")):
        if len(index) and not (index.min() >= 0 and index.max() < len(rles)):
            raise ValueRangeError(f"{name} is out of range", expected=f"0 .. {len(rles) - 1}", got=index.max())
    crowd = np.zeros(len(rles_b), bool) if crowd_b is None else np.asarray(crowd_b).astype(bool)
    if crowd.shape != (len(rles_b),):
        raise ShapeError("crowd_b must hold one flag a mask of rles_b", expected=(len(rles_b),), got=crowd.shape)
    iou = np.zeros(len(index_a))
    near = _meeting(rles_a.to_bbox(), rles_b.to_bbox(), index_a, index_b)
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


def _meeting(bbox_a, bbox_b, index_a, index_b):
    """Which pairs have boxes that share a pixel."""
    alive = np.arange(len(index_a))
    for axis in (1, 0):
        a, b = index_a[alive], index_b[alive]
        low = np.maximum(bbox_a[:, axis][a], bbox_b[:, axis][b])
        high = np.minimum(bbox_a[:, axis + 2][a], bbox_b[:, axis + 2][b])
        alive = alive[low < high]
    return alive


def rle_difference(rles_a, rles_b, index_a, index_b):
    """(P,) int64, in how many pixels the masks rles_a[index_a[p]] and rles_b[index_b[p]] differ.

    index_a, index_b: (P,) int64, in range; the two masks of a pair are of one size

    The masks differ from an odd to the next even of all the ends of runs of both, put in order: so the ends need only
    be merged, and nothing need be known about which mask each comes from. Sums over the runs of many masks lift each
    mask's ends above those of the mask before, on both sides alike. The end of the last run is the same on both sides:
    both have it or none, so where one mask ends in foreground and the other does not, an empty run evens them out.
    """
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


def _lifted_ends(rles, index, length):
    """All ends of runs of each mask of index, above the pixels of the masks before it."""
    first = np.cumsum(length) - length
    place = np.repeat(rles.offsets[index] - first, length)
    place += np.arange(place.size)
    return np.cumsum(rles.counts[place], dtype=np.int32)
