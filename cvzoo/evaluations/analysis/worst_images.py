"""The images with the most detection errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.evaluations.analysis.detection_table import DetectionTable
from cvzoo.evaluations.analysis.error_types import ERRORS
from cvzoo.typing.aliases import Array, ArrayLike, LabelNames


class ImageErrors:
    """The true positives, false positives and false negatives of each image.

    match, found: as `match_detections` gives them; error: as `calc_error_types` does, or None
    least: (L,) float64, detections with scores below the value of their class are left out
    n_right, n_wrong, n_missed: (I,) int64
    """

    def __init__(
        self, table: DetectionTable, match: Array, matched: Array, error: Array | None, least: Array, *, n_image: int
    ) -> None:
        looked = table.pred_score >= least[table.pred_label]
        self._table, self._error = table, error
        self._right, self._wrong = looked & (match == 1), looked & (match == 0)
        self._missed = ~table.gt_ignored
        self._missed[matched[self._right]] = False
        self.n_wrong = np.bincount(table.pred_photo[self._wrong], minlength=n_image)
        self.n_missed = np.bincount(table.gt_photo[self._missed], minlength=n_image)
        self.n_right = np.bincount(table.pred_photo[self._right], minlength=n_image)
        self._first_pred = np.searchsorted(table.pred_photo, np.arange(n_image + 1))
        self._first_gt = np.searchsorted(table.gt_photo, np.arange(n_image + 1))

    @property
    def n_error(self) -> Array:
        """(I,) int64, false positives and false negatives."""
        return self.n_wrong + self.n_missed

    def record(
        self, i: int, *, bboxes: tuple[Sequence[ArrayLike], Sequence[ArrayLike]], label_names: LabelNames, image: str
    ) -> dict[str, Any]:
        """Image `i`, named `image`, as `list_worst_images` has it; the other arguments are that function's."""
        table, boxes = self._table, []
        for verdict, rows in (("right", self._right), ("wrong", self._wrong)):
            begin, end = self._first_pred[i : i + 2]
            for row in np.flatnonzero(rows[begin:end]).tolist():
                at = row + begin
                is_known = verdict == "wrong" and self._error is not None and self._error[at] >= 0
                kind = ERRORS[self._error[at]] if is_known and self._error is not None else None
                name, score = label_names[int(table.pred_label[at])], float(table.pred_score[at])
                boxes.append(_box(verdict, kind, name, score, np.asarray(bboxes[0][i])[row]))
        begin, end = self._first_gt[i : i + 2]
        for row in np.flatnonzero(self._missed[begin:end]).tolist():
            name = label_names[int(table.gt_label[row + begin])]
            boxes.append(_box("missed", None, name, None, np.asarray(bboxes[1][i])[row]))
        counts = {"n_right": int(self.n_right[i]), "n_wrong": int(self.n_wrong[i]), "n_missed": int(self.n_missed[i])}
        return {"index": i, "photo": image, **counts, "boxes": boxes}


def list_worst_images(
    errors: ImageErrors,
    *,
    bboxes: tuple[Sequence[ArrayLike], Sequence[ArrayLike]],
    label_names: LabelNames,
    images: Sequence[str],
    n_worst: int,
) -> list[dict]:
    """The images with the most false negatives and false positives, worst first; images without any are left out.

    bboxes: detections' and objects', two lists with an array (R, 4) an image
    Returns a dictionary a photo: index, image, n_right, n_wrong, n_missed, and boxes with verdict ("right", "wrong",
    "missed"), error (a kind, for wrong ones), label, score (None for missed ones), y_min, x_min, y_max, x_max.
    """
    order = np.argsort(-errors.n_error, kind="stable")[:n_worst]
    return [
        errors.record(i, bboxes=bboxes, label_names=label_names, image=images[i])
        for i in map(int, order[errors.n_error[order] > 0])
    ]


def _box(verdict: str, error: str | None, label: str, score: float | None, bb: Array) -> dict[str, Any]:
    y_min, x_min, y_max, x_max = map(float, bb)
    sides = {"y_min": y_min, "x_min": x_min, "y_max": y_max, "x_max": x_max}
    return {"verdict": verdict, "error": error, "label": label, "score": score, **sides}
