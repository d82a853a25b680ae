"""The images with the most detection errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.evaluations.analysis.detection_table import DetectionTable
from cvzoo.evaluations.analysis.error_types import ERRORS
from cvzoo.typing.aliases import Array, ArrayLike, LabelNames


def list_worst_images(
    table: DetectionTable,
    match: Array,
    found: Array,
    error: Array,
    least: Array,
    *,
    bboxes: tuple[Sequence[ArrayLike], Sequence[ArrayLike]],
    label_names: LabelNames,
    photos: Sequence[str],
    n_worst: int,
) -> list[dict]:
    """The images with the most false negatives and false positives, worst first; images without any are left out.

    match, found: as `match_detections` gives them; error: as `calc_error_types` does
    least: (L,) float64, what scores less than its class' number is not looked at
    bboxes: detections' and objects', two lists with an array (R, 4) an image
    Returns a dictionary a photo: index, image, n_right, n_wrong, n_missed, and boxes with verdict ("right", "wrong",
    "missed"), error (a kind, for wrong ones), label, score (None for missed ones), y_min, x_min, y_max, x_max.
    """
    looked = table.pred_score >= least[table.pred_label]
    right, wrong = looked & (match == 1), looked & (match == 0)
    missed = ~table.gt_ignored
    missed[found[right]] = False
    n = len(photos)
    n_wrong = np.bincount(table.pred_photo[wrong], minlength=n)
    n_missed = np.bincount(table.gt_photo[missed], minlength=n)
    n_right = np.bincount(table.pred_photo[right], minlength=n)
    order = np.argsort(-(n_wrong + n_missed), kind="stable")[:n_worst]
    first_pred = np.searchsorted(table.pred_photo, np.arange(n + 1))
    first_gt = np.searchsorted(table.gt_photo, np.arange(n + 1))
    listed = []
    for photo in order[(n_wrong + n_missed)[order] > 0].tolist():
        boxes = []
        for verdict, rows in (("right", right), ("wrong", wrong)):
            for row in (np.flatnonzero(rows[first_pred[photo] : first_pred[photo + 1]])).tolist():
                at = row + first_pred[photo]
                kind = ERRORS[error[at]] if verdict == "wrong" and error[at] >= 0 else None
                name, score = label_names[table.pred_label[at]], float(table.pred_score[at])
                boxes.append(_box(verdict, kind, name, score, bboxes[0][photo][row]))
        for row in np.flatnonzero(missed[first_gt[photo] : first_gt[photo + 1]]).tolist():
            name = label_names[table.gt_label[row + first_gt[photo]]]
            boxes.append(_box("missed", None, name, None, bboxes[1][photo][row]))
        counts = {"n_right": int(n_right[photo]), "n_wrong": int(n_wrong[photo]), "n_missed": int(n_missed[photo])}
        listed.append({"index": photo, "photo": photos[photo], **counts, "boxes": boxes})
    return listed


def _box(verdict: str, error: str | None, label: str, score: float | None, bb: Array) -> dict[str, Any]:
    y_min, x_min, y_max, x_max = map(float, bb)
    sides = {"y_min": y_min, "x_min": x_min, "y_max": y_max, "x_max": x_max}
    return {"verdict": verdict, "error": error, "label": label, "score": score, **sides}
