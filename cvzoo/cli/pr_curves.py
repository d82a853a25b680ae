"""Precision-recall curves for the report at 101 recalls, from COCO's or VOC's result."""

from typing import Any

import numpy as np

from cvzoo.evaluations.coco.result import COCOResult
from cvzoo.evaluations.voc.result import VOCResult
from cvzoo.typing.aliases import ArrayLike

_RECALLS = np.linspace(0.0, 1.0, 101)
_OVERLAPS = (0.5, 0.75, 0.9)


def coco_curves(result: COCOResult) -> dict[str, Any]:
    """`recall`; `mean`: IoU -> precision, the mean over classes; `classes`: each label's precision.

    For all areas and the largest number of detections; the classes at the first IoU threshold.
    """
    precision = result.precision[..., result.parameters.area_rng_lbl.index("all"), -1]  # (T, R, K)
    has_objects = np.flatnonzero((precision > -1).any(axis=(0, 1)))
    mean = {}
    for thr in _OVERLAPS:
        at = np.flatnonzero(np.isclose(result.parameters.iou_thrs, thr))
        if at.size and has_objects.size:
            mean[f"{thr:.2f}"] = _listed(precision[at[0]][:, has_objects].mean(axis=1))
    classes = [{"label": result.cat_names[k], "precision": _listed(precision[0, :, k])} for k in has_objects]
    return {"recall": _listed(result.parameters.rec_thrs), "mean": mean, "classes": classes}


def voc_curves(result: VOCResult, names: tuple[str, ...], iou_thresh: float) -> dict[str, Any]:
    """Like `coco_curves`; the precision at a recall is the maximum at that or a higher recall."""
    classes, curves = [], []
    for name, prec, rec in zip(names, result.prec, result.rec):
        if rec is None:
            continue
        best = np.maximum.accumulate(np.nan_to_num(np.append(prec, 0.0))[::-1])[::-1]
        curves.append(best[np.searchsorted(rec, _RECALLS, side="left")])
        classes.append({"label": name, "precision": _listed(curves[-1])})
    mean = {f"{iou_thresh:.2f}": _listed(np.mean(curves, axis=0))} if curves else {}
    return {"recall": _listed(_RECALLS), "mean": mean, "classes": classes}


def _listed(values: ArrayLike) -> list[float]:
    return [round(value, 6) for value in np.asarray(values).tolist()]
