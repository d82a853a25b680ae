"""Overlaps of run-length encoded masks, for many pairs at once and without decoding them."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError

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
    inter = (area_a + area_b - _difference(rles_a, rles_b, a, b)) // 2
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


def _difference(rles_a, rles_b, index_a, index_b):
    """(P,) int64, in how many pixels the two masks of a pair differ; they are of one size.

    The masks differ from an odd to the next even of all the ends of runs of both, put in order: so the ends need only
    be merged, and nothing need be known about which mask each comes from.
    """
    n_end_a, n_end_b = (np.diff(rles.offsets) // 2 * 2 for rles in (rles_a, rles_b))
    n_end = n_end_a[index_a] + n_end_b[index_b]
    total = np.cumsum(n_end)
    ends_a, ends_b = rles_a.run_ends(), rles_b.run_ends()
    pixels = rles_a.sizes[:, 0].astype(np.int64) * rles_a.sizes[:, 1]
    # one pair's ends are lifted above the ones of the pair before, and int32 sorts twice as fast as int64
    lift = int(pixels[index_a].max(initial=0)) + 1
    most_pairs = max(int(np.iinfo(np.int32).max // lift) - 1, 1)
    out = np.zeros(len(index_a), np.int64)
    begin = 0
    while begin < len(index_a):
        base = total[begin - 1] if begin else 0
        end = int(np.searchsorted(total, base + _BLOCK, side="right"))
        end = min(max(end, begin + 1), begin + most_pairs)
        pairs = slice(begin, end)
        lifts = np.arange(end - begin, dtype=np.int32) * np.int32(lift if end - begin > 1 else 0)
        merged = np.concatenate(
            [
                _gathered(ends_a, rles_a.offsets, n_end_a, index_a[pairs], lifts),
                _gathered(ends_b, rles_b.offsets, n_end_b, index_b[pairs], lifts),
            ]
        )
        merged.sort()
        gaps = np.zeros(len(merged) // 2 + 1, np.int64)
        np.cumsum(merged[1::2] - merged[0::2], out=gaps[1:], dtype=np.int64)
        out[pairs] = np.diff(gaps[(total[pairs] - base) // 2], prepend=0)
        begin = end
    return out


def _gathered(ends, offsets, n_end, index, lifts):
    """The first n_end[i] ends of each mask i of index, raised by its lift."""
    length = n_end[index]
    first = np.cumsum(length) - length
    place = np.arange(int(length.sum())) + np.repeat(offsets[index] - first, length)
    return ends[place] + np.repeat(lifts, length)
