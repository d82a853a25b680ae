"""The numbers that stand at the end of a COCO evaluation."""

import numpy as np

from cvzoo.evaluations.coco.parameters import COCOParameters

BOX_KEYS = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")
"""The names of the 12 numbers for boxes and masks, in pycocotools' order."""

POINT_KEYS = ("AP", "AP50", "AP75", "APm", "APl", "AR", "AR50", "AR75", "ARm", "ARl")
"""The names of the 10 numbers for points, in pycocotools' order."""


def summarize(precision, recall, parameters: COCOParameters) -> dict[str, float]:
    """The 12 numbers for boxes and masks, or the 10 for points, by name; -1 where nothing is to be averaged.

    precision: (T, R, K, A, M) float64; recall: (T, K, A, M) float64

    As in pycocotools, the first one is read at max_dets=100 (points: all at 20) whatever max_dets are, unless the
    correction `max_dets` is asked for, and 100 in a name is the third of max_dets.
    """
    points = parameters.iou_type == "keypoints"
    max_dets = parameters.max_dets
    last = max_dets[min(2, len(max_dets) - 1)]
    usual = last if parameters.corrects("max_dets") else 20 if points else 100
    rows = (
        (precision, None, "all", usual),
        (precision, 0.5, "all", usual if points else last),
        (precision, 0.75, "all", usual if points else last),
        *((precision, None, area, usual if points else last) for area in ("small", "medium", "large")),
    )
    if points:
        rows = (*rows[:3], *rows[4:])
        rows += (
            (recall, None, "all", usual),
            (recall, 0.5, "all", usual),
            (recall, 0.75, "all", usual),
            (recall, None, "medium", usual),
            (recall, None, "large", usual),
        )
    else:
        rows += tuple((recall, None, "all", max_dets[min(m, len(max_dets) - 1)]) for m in range(3))
        rows += tuple((recall, None, area, last) for area in ("small", "medium", "large"))
    return {key: _mean(*row, parameters) for key, row in zip(POINT_KEYS if points else BOX_KEYS, rows, strict=True)}


def _mean(values, iou_thr, area, max_det, parameters):
    if iou_thr is not None:
        values = values[np.flatnonzero(parameters.iou_thrs == iou_thr)]
    a = [i for i, label in enumerate(parameters.area_rng_lbl) if label == area]
    m = [i for i, n in enumerate(parameters.max_dets) if n == max_det]
    if not a or not m:
        return -1.0
    values = values[..., a[0], m[0]]
    values = values[values > -1]
    return float(np.mean(values)) if values.size else -1.0
