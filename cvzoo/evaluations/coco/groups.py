"""Objects and detections grouped by class and image, the highest-scoring detections first."""

import dataclasses
from collections.abc import Iterator

import numpy as np

from cvzoo.evaluations.coco.lookup import falling_ranks, lookup, places_in_runs, stable_order
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, eq=False)
class COCOGroups:
    """Groups of objects and detections that are compared with each other.

    A group has the objects and detections of one class and one image (of one image if use_cats is false).
    gt, dt: (G,), (N,) int64, row indices of objects and detections, by group; objects in their order, detections by
        descending score, at most max_dets[-1] per group
    gt_group, dt_group: (G,), (N,) int64, ascending
    gt_cat, dt_cat: (G,), (N,) int64, index of the class among the evaluated ones; 0 if use_cats is false
    dt_rank: (N,) int64, rank of a detection in its group
    n_cat: number of evaluated classes; 1 if use_cats is false
    """

    gt: Array
    dt: Array
    gt_group: Array
    dt_group: Array
    gt_cat: Array
    dt_cat: Array
    dt_rank: Array
    n_cat: int


def group_by_class_and_image(
    gt: tuple[Array, Array],
    dt: tuple[Array, Array, Array],
    *,
    img_ids: Array,
    cat_ids: Array,
    use_cats: bool,
    max_det: int,
) -> COCOGroups:
    """The groups of an evaluation.

    gt, dt: (image_id, category_id) and (image_id, category_id, score), columns of one length each
    img_ids, cat_ids: (I,), (K,) int64, the evaluated images and classes. Images ascend, and so do classes with
        use_cats; without it, their order is that of the objects and detections of an image
    """
    gt_row, gt_img, gt_cat = _evaluated(gt[0], gt[1], img_ids, cat_ids)
    dt_row, dt_img, dt_cat = _evaluated(dt[0], dt[1], img_ids, cat_ids)
    # without use_cats in the order of cat_ids: pycocotools concatenates the lists of the classes
    gt_major, gt_minor = (gt_cat * img_ids.size + gt_img, None) if use_cats else (gt_img, gt_cat)
    order = stable_order(gt_major, gt_minor)
    gt_row, gt_group = gt_row[order], gt_major[order]
    if not use_cats:
        order = stable_order(dt_cat)
        dt_row, dt_img, dt_cat = dt_row[order], dt_img[order], dt_cat[order]
    # one integer instead of a pair, which sorts faster
    dt_group = dt_cat * img_ids.size + dt_img if use_cats else dt_img
    order = stable_order(dt_group, falling_ranks(dt[2][dt_row]))
    dt_row, dt_group = dt_row[order], dt_group[order]
    dt_rank = places_in_runs(dt_group)
    if dt_rank.size and dt_rank.max() >= max_det:
        few = dt_rank < max_det
        dt_row, dt_group, dt_rank = dt_row[few], dt_group[few], dt_rank[few]
    n_img = max(img_ids.size, 1)
    return COCOGroups(
        gt=gt_row,
        dt=dt_row,
        gt_group=gt_group,
        dt_group=dt_group,
        gt_cat=gt_group // n_img if use_cats else np.zeros_like(gt_group),
        dt_cat=dt_group // n_img if use_cats else np.zeros_like(dt_group),
        dt_rank=dt_rank,
        n_cat=cat_ids.size if use_cats else 1,
    )


def pairs_of_groups(groups: COCOGroups, *, block: int = 1 << 18) -> Iterator[tuple[Array, Array]]:
    """Every pair of a detection and an object of one group: yields (p,) int64 indices into groups.dt and groups.gt.

    A block has about `block` pairs; all pairs of a detection are in the same block, objects in their order.
    """
    low = np.searchsorted(groups.gt_group, groups.dt_group, side="left")
    n = np.searchsorted(groups.gt_group, groups.dt_group, side="right") - low
    some = np.flatnonzero(n)
    low, n = low[some], n[some]
    end = np.cumsum(n)
    start = 0
    while start < some.size:
        done = end[start - 1] if start else 0
        stop = max(int(np.searchsorted(end, done + block, side="right")), start + 1)
        part = slice(start, stop)
        dt = np.repeat(some[part], n[part])
        gt = np.arange(dt.size) - np.repeat(end[part] - n[part] - done - low[part], n[part])
        yield dt, gt
        start = stop


def _evaluated(image_id: Array, category_id: Array, img_ids: Array, cat_ids: Array) -> tuple[Array, Array, Array]:
    img, known = lookup(img_ids, image_id)
    order = np.argsort(cat_ids)
    cat, known_cat = lookup(cat_ids[order], category_id)
    cat = order[cat] if order.size else cat
    known &= known_cat
    rows = np.flatnonzero(known)
    return (rows, img, cat) if rows.size == known.size else (rows, img[rows], cat[rows])
