"""The results of an evaluation for printing, JSON and the report."""

import dataclasses
import pathlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.cli.load_detector import Finder
from cvzoo.evaluations.analysis.detection_table import DetectionTable
from cvzoo.evaluations.explain.explanation import Explanation
from cvzoo.evaluations.results.box_records import BoxRecords
from cvzoo.geometry.rle import RLEs
from cvzoo.reporting.counted import counted


@dataclasses.dataclass(frozen=True, eq=False)
class Instances:
    """Objects and detections for the analysis: lists with one array per image.

    photos: names; paths: of the image files, None if unknown
    gt_bboxes, pred_bboxes: (R, 4) float64, y_min x_min y_max x_max; labels (R,) int64; scores (R,) float64
    gt_crowdeds, gt_difficults: (R,) bool, COCO's and VOC's objects that are ignored
    gt_masks, pred_masks: if masks are compared; then the boxes are those around the masks
    points: if keypoints are compared; then the boxes are only drawn
    """

    label_names: tuple[str, ...]
    images: list[str]
    paths: Sequence[pathlib.Path | None]
    gt_bboxes: list[np.ndarray]
    gt_labels: list[np.ndarray]
    gt_crowdeds: list[np.ndarray] | None
    gt_difficults: list[np.ndarray] | None
    pred_bboxes: list[np.ndarray]
    pred_labels: list[np.ndarray]
    pred_scores: list[np.ndarray]
    gt_masks: list[RLEs] | None = None
    pred_masks: list[RLEs] | None = None
    points: "Points | None" = None

    def table(self) -> DetectionTable:
        """The input of every analysis."""
        flags: dict[str, Any] = {"gt_crowdeds": self.gt_crowdeds, "n_fg_class": len(self.label_names)}
        pred, gt = (self.pred_labels, self.pred_scores), self.gt_labels
        if self.points is not None:
            p = self.points
            return DetectionTable.of_points(
                p.pred, *pred, p.gt, p.gt_visibles, self.gt_bboxes, gt, p.gt_areas, sigmas=p.sigmas, **flags
            )
        flags["gt_difficults"] = self.gt_difficults
        if self.pred_masks is not None and self.gt_masks is not None:
            return DetectionTable.of_masks(self.pred_masks, *pred, self.gt_masks, gt, **flags)
        return DetectionTable.of_bboxes(self.pred_bboxes, *pred, self.gt_bboxes, gt, **flags)


@dataclasses.dataclass(frozen=True, eq=False)
class Points:
    """Keypoints per image: pred, gt (R, P, 2) float64, y x; gt_visibles (R, P) bool; gt_areas (R,); sigmas (P,)."""

    pred: list[np.ndarray]
    gt: list[np.ndarray]
    gt_visibles: list[np.ndarray]
    gt_areas: list[np.ndarray]
    sigmas: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Scored:
    """The scores of an evaluation.

    summary: by name; per_class, columns: the table of the classes; record: the JSON
    curves: precision over recall, see `coco_curves`
    instances: the input of the analysis; None if there is none
    thresholds: of the model and the metric, by description
    model: the detector; None for results
    """

    summary: Mapping[str, float]
    per_class: Sequence[Mapping[str, Any]]
    columns: tuple[str, ...]
    record: dict[str, Any]
    curves: dict[str, Any]
    instances: Instances | None = None
    explanation: Explanation | None = None
    thresholds: Mapping[str, float | str] = dataclasses.field(default_factory=dict)
    model: Finder | None = None


def by_photo(image: np.ndarray, n_photo: int, *columns: np.ndarray) -> list[list[np.ndarray]]:
    """Columns split into one array per image: a list of lists.

    photo: (N,) int64, 0 .. n_photo - 1, in any order; rows keep their order within an image
    """
    order = np.argsort(image, kind="stable")
    ends = np.cumsum(np.bincount(image, minlength=n_photo))[:-1]
    return [np.split(column[order], ends) for column in columns]


def without_unknown(records: BoxRecords, labels: Collection[str]) -> tuple[BoxRecords, list[str]]:
    """The records of known classes, and a note with the number of others, if any."""
    known = records.of_classes(labels)
    n = len(records) - len(known)
    return known, [
        f"{n} of {counted(len(records), 'detection')} are of classes that the ground truth does not have"
    ] if n else []
