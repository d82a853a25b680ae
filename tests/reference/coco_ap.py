"""COCO's box AP in its plainest form, for tests: loops as the definition reads, all areas, 100 boxes a photo.

Source: the rules of COCO's evaluation: boxes best first take the best free object above the threshold, crowds may be
taken by many and count for nothing, precision at 101 recalls, mean over the classes that occur.
"""

import numpy as np

THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0, 1, 101)


def coco_ap(truths, found, *, max_found=100):
    """(AP, AP50) over all photos.

    truths: per photo (bbox (R, 4), label (R,), crowded (R,)); boxes are y_min x_min y_max x_max
    found: per photo (bbox (R, 4), label (R,), score (R,))
    """
    classes = sorted({label for _, labels, _ in truths for label in labels.tolist()})
    aps = [_class_ap(truths, found, label, max_found) for label in classes]
    aps = np.array([ap for ap in aps if ap is not None])
    return aps.mean(), aps[:, 0].mean()


def _class_ap(truths, found, label, max_found):
    scores, hits, ignored, n_object = [], [], [], 0
    for (bbox, labels, crowded), (found_bbox, found_label, score) in zip(truths, found):
        mine, theirs = labels == label, np.flatnonzero(found_label == label)
        order = theirs[np.argsort(-score[theirs], kind="stable")][:max_found]
        n_object += int((~crowded[mine]).sum())
        hit, ignore = _match(bbox[mine], crowded[mine], found_bbox[order])
        scores.append(score[order])
        hits.append(hit)
        ignored.append(ignore)
    if n_object == 0:
        return None
    order = np.argsort(-np.concatenate(scores), kind="stable")
    hits, ignored = np.concatenate(hits, axis=1)[:, order], np.concatenate(ignored, axis=1)[:, order]
    return [_interpolated(hit[~ignore], n_object) for hit, ignore in zip(hits, ignored)]


def _match(bbox, crowded, found):
    """(thresholds, boxes) bool twice: which boxes hit an object, which count for nothing."""
    hit = np.zeros((len(THRESHOLDS), len(found)), bool)
    ignore = np.zeros_like(hit)
    iou = _iou(found, bbox, crowded)
    for t, threshold in enumerate(THRESHOLDS):
        taken = np.zeros(len(bbox), bool)
        for i in range(len(found)):
            best, best_iou = -1, min(threshold, 1 - 1e-10)
            for j in [*np.flatnonzero(~crowded), *np.flatnonzero(crowded)]:
                if taken[j] and not crowded[j]:
                    continue
                if crowded[j] and best >= 0 and not crowded[best]:
                    break  # a plain object was found: crowds are only looked at otherwise
                if iou[i, j] >= best_iou:
                    best, best_iou = j, iou[i, j]
            if best >= 0:
                taken[best] = True
                hit[t, i], ignore[t, i] = not crowded[best], crowded[best]
    return hit, ignore


def _iou(found, bbox, crowded):
    low = np.maximum(found[:, None, :2], bbox[None, :, :2])
    high = np.minimum(found[:, None, 2:], bbox[None, :, 2:])
    inside = np.prod(np.clip(high - low, 0, None), axis=2)
    found_area = np.prod(found[:, 2:] - found[:, :2], axis=1)[:, None]
    area = np.prod(bbox[:, 2:] - bbox[:, :2], axis=1)[None]
    return inside / np.where(crowded[None], found_area, found_area + area - inside)


def _interpolated(hit, n_object):
    hits = np.cumsum(hit)
    precision = hits / np.arange(1, len(hit) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    place = np.searchsorted(hits / n_object, RECALLS, side="left")
    return sum(precision[p] for p in place if p < len(precision)) / len(RECALLS)
