"""Matching of predicted and ground-truth segments of an image."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, ArrayLike

Segments: TypeAlias = Iterable[Mapping[str, Any]]

VOID = 0  # pixels of no segment
LARGEST = 2**63 - 1  # id


@dataclasses.dataclass(frozen=True, eq=False)
class SegmentMatches:
    """Matches of one image: (T,) class indices and IoUs of true positives, (L,) false positives and negatives."""

    tp_class: Array
    tp_iou: Array
    fp: Array
    fn: Array


def match_segments(
    pred_map: ArrayLike,
    pred_segments: Segments,
    gt_map: ArrayLike,
    gt_segments: Segments,
    classes: Mapping[int, int],
    image: int,
) -> SegmentMatches:
    """The matches of one image.

    pred_map, gt_map: (H, W) int, the id of each pixel's segment, 0 for none
    pred_segments: list of {'id', 'category_id'}; gt_segments: likewise, with 'iscrowd' and 'area' where they differ
        from 0 and from the number of pixels
    classes: index by category id; image: its index, for errors

    Source: Panoptic Segmentation (Kirillov et al., 2019) and panopticapi. A pair of one class matches if its IoU, with
    the true void left out of the union, is above 0.5. A wrong segment that lies to more than half on the void or on
    the crowd of its class (the last one, if there are several) does not count; a crowd is never missed.
    """
    pred_map, gt_map = np.asarray(pred_map), np.asarray(gt_map)
    if gt_map.ndim != 2 or pred_map.shape != gt_map.shape:
        raise ShapeError(f"the maps of image {image} must be (H, W) of one size", got=(pred_map.shape, gt_map.shape))
    pred_id, pred_class, _, _ = _table(pred_segments, classes, f"pred_segments of image {image}")
    gt_id, gt_class, crowd, area = _table(gt_segments, classes, f"gt_segments of image {image}")
    pred_place = _places(pred_map, pred_id, f"pred_map of image {image}")
    gt_place = _places(gt_map, gt_id, f"gt_map of image {image}")
    # the last row and column are the void
    n_gt, n_pred = len(gt_id), len(pred_id)
    inter = np.bincount(gt_place * (n_pred + 1) + pred_place, minlength=(n_gt + 1) * (n_pred + 1))
    inter = inter.reshape(n_gt + 1, n_pred + 1)
    pred_area = inter[:, :-1].sum(axis=0)
    _check_there(pred_area, pred_id, f"pred_map of image {image}")
    _check_there(inter[:-1].sum(axis=1), gt_id, f"gt_map of image {image}")
    area = np.where(np.isnan(area), inter[:-1].sum(axis=1), area)
    union = pred_area + area[:, None] - inter[:-1, :-1] - inter[-1, :-1]
    iou = inter[:-1, :-1] / np.maximum(union, 1)
    gt, pred = np.nonzero((iou > 0.5) & ~crowd[:, None] & (gt_class[:, None] == pred_class))
    missed, wrong = ~crowd, np.ones(n_pred, bool)
    missed[gt] = wrong[pred] = False
    excused = inter[-1, :-1].copy()
    last_crowd = {int(gt_class[g]): g for g in np.flatnonzero(crowd)}
    for p, l in enumerate(pred_class.tolist()):
        if l in last_crowd:
            excused[p] += inter[last_crowd[l], p]
    wrong &= excused / pred_area <= 0.5
    fp, fn = (np.bincount(each, minlength=len(classes)) for each in (pred_class[wrong], gt_class[missed]))
    return SegmentMatches(gt_class[gt], iou[gt, pred], fp, fn)


def _table(segments: Segments, classes: Mapping[int, int], name: str) -> tuple[Array, Array, Array, Array]:
    """Ids (S,) int64, class places (S,) int64, crowds (S,) bool and areas (S,) float64 (NaN: not given)."""
    rows: list[tuple[int, int, bool, float]] = []
    for n, segment in enumerate(segments):
        try:
            number, category = int(segment["id"]), segment["category_id"]
            crowd, area = bool(segment.get("iscrowd", 0)), float(segment.get("area", np.nan))
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise ValueRangeError(
                f"{name}: segment {n} is not a dictionary of id and category_id", got=segment
            ) from error
        if category not in classes:
            raise ValueRangeError(f"{name}: segment {n} is of an unknown category", got=category)
        if number == VOID or area < 0:
            raise ValueRangeError(f"{name}: segment {n} has an id of 0 or a negative area", got=segment)
        if not -LARGEST <= number <= LARGEST:
            raise ValueRangeError(f"{name}: segment {n} has an id of more than 63 bits", got=number)
        rows.append((number, classes[category], crowd, area))
    numbers = [row[0] for row in rows]
    if len(set(numbers)) < len(numbers):
        raise ValueRangeError(f"{name}: an id occurs twice", got=sorted(numbers))
    return (
        np.array(numbers, np.int64),
        np.array([row[1] for row in rows], np.int64),
        np.array([row[2] for row in rows], bool),
        np.array([row[3] for row in rows], np.float64),
    )


def _places(segment_map: Array, ids: Array, name: str) -> Array:
    """(H * W,) int64, the place among ids of each pixel's segment; behind the last for the void."""
    if segment_map.dtype.kind not in "iu":
        raise DtypeError(f"{name} must be integers", got=segment_map.dtype)
    known = np.append(ids, VOID)
    order = np.argsort(known)
    pixels = segment_map.ravel().astype(np.int64)
    place = order[np.minimum(np.searchsorted(known[order], pixels), len(order) - 1)]
    strange = known[place] != pixels
    if strange.any():
        raise ValueRangeError(f"{name} has a segment that is not listed", got=int(pixels[strange][0]))
    return place


def _check_there(area: Array, ids: Array, name: str) -> None:
    if (area == 0).any():
        raise ValueRangeError(f"{name} has no pixel of a listed segment", got=int(ids[np.argmax(area == 0)]))
