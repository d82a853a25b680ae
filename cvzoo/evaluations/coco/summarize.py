"""The summary of a COCO evaluation."""

import numpy as np

from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.typing.aliases import Array

BOX_KEYS = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")
"""The names of the 12 scores of boxes and masks, in pycocotools' order."""

POINT_KEYS = ("AP", "AP50", "AP75", "APm", "APl", "AR", "AR50", "AR75", "ARm", "ARl")
"""The names of the 10 scores of keypoints, in pycocotools' order."""


def summarize(precision: Array, recall: Array, parameters: COCOParameters) -> dict[str, float]:
    """The 12 scores of boxes and masks, or the 10 of keypoints, by name; -1 where there is nothing to average.

    precision: (T, R, K, A, M) float64; recall: (T, K, A, M) float64

    As in pycocotools, the first one is computed at max_dets=100 (keypoints: all at 20) whatever max_dets are, unless
    the correction `max_dets` is requested, and 100 in a name is the third of max_dets.
    """
    points = parameters.iou_type == "keypoints"
    max_dets = parameters.max_dets
    last = max_dets[min(2, len(max_dets) - 1)]
    # pycocotools looks for AP at 100 detections (20 with keypoints) whatever max_dets has, and gives -1 if it is not
    # there
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


def _mean(values: Array, iou_thr: float | None, area: str, max_det: int, parameters: COCOParameters) -> float:
    if iou_thr is not None:
        values = values[np.flatnonzero(parameters.iou_thrs == iou_thr)]
    a = [i for i, label in enumerate(parameters.area_rng_lbl) if label == area]
    m = [i for i, n in enumerate(parameters.max_dets) if n == max_det]
    if not a or not m:
        return -1.0
    values = values[..., a[0], m[0]]
    values = values[values > -1]
    return float(np.mean(values)) if values.size else -1.0
