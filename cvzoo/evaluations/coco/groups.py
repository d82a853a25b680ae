"""Objects and detections brought together by class and photo, the surest detections first."""

import dataclasses

import numpy as np

from cvzoo.evaluations.coco.lookup import falling_ranks, lookup, places_in_runs, stable_order


@dataclasses.dataclass(frozen=True, eq=False)
class COCOGroups:
    """Which objects and which detections are compared with one another, and in which order.

    A group is what belongs to one class and one photo (to one photo, if classes do not count).
    gt, dt: (G,), (N,) int64, rows of the columns they were made from, by group; objects as they came, detections by
        falling score, at most max_dets[-1] in a group
    gt_group, dt_group: (G,), (N,) int64, rising
    gt_cat, dt_cat: (G,), (N,) int64, place of the class among the evaluated ones; 0 if classes do not count
    dt_rank: (N,) int64, place of a detection in its group
    n_cat: how many classes are evaluated; 1 if they do not count
    """

    gt: np.ndarray
    dt: np.ndarray
    gt_group: np.ndarray
    dt_group: np.ndarray
    gt_cat: np.ndarray
    dt_cat: np.ndarray
    dt_rank: np.ndarray
    n_cat: int


def group_by_class_and_photo(gt, dt, *, img_ids, cat_ids, use_cats, max_det) -> COCOGroups:
    """The groups of an evaluation.

    gt, dt: (image_id, category_id) and (image_id, category_id, score), columns of one length each
    img_ids, cat_ids: (I,), (K,) int64: what is evaluated; everything else is left out. Photos rise, and so do classes
        unless they do not count: then their order is that in which objects and detections of a photo stand
    """
    gt_row, gt_img, gt_cat = _evaluated(gt[0], gt[1], img_ids, cat_ids)
    dt_row, dt_img, dt_cat = _evaluated(dt[0], dt[1], img_ids, cat_ids)
    # in classes' order if they do not count: pycocotools puts one class' list behind the other's
    gt_major, gt_minor = (gt_cat * img_ids.size + gt_img, None) if use_cats else (gt_img, gt_cat)
    order = stable_order(gt_major, gt_minor)
    gt_row, gt_group = gt_row[order], gt_major[order]
    if not use_cats:
        order = stable_order(dt_cat)
        dt_row, dt_img, dt_cat = dt_row[order], dt_img[order], dt_cat[order]
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


def pairs_of_groups(groups: COCOGroups, *, block=1 << 18):
    """Every pair of a detection and an object of one group: yields (p,) int64 places in groups.dt and in groups.gt.

    A block holds about as many pairs as asked for; all pairs of a detection are in one block, objects in their order.
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


def _evaluated(image_id, category_id, img_ids, cat_ids):
    img, known = lookup(img_ids, image_id)
    order = np.argsort(cat_ids)
    cat, known_cat = lookup(cat_ids[order], category_id)
    cat = order[cat] if order.size else cat
    known &= known_cat
    rows = np.flatnonzero(known)
    return (rows, img, cat) if rows.size == known.size else (rows, img[rows], cat[rows])
