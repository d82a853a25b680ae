"""The result of a COCO evaluation."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.summarize import summarize
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class COCOResult:
    """Precision, recall and scores by IoU threshold, recall threshold, class, area range and limit of detections.

    precision, scores: (T, R, K, A, M) float64; recall: (T, K, A, M) float64; -1 for a class without positives. Order
        and shape are those of pycocotools' `eval`.
    cat_ids: (K,) int64, ascending; (1,) with -1 if use_cats is false
    cat_names: K names
    parameters: of the evaluation
    n_images, n_objects, n_detections: evaluated numbers; objects by class, (K,) int64, without ignored ones
    notes: known pitfalls of the data or parameters, in words
    """

    precision: Array
    recall: Array
    scores: Array
    cat_ids: Array
    cat_names: tuple[str, ...]
    parameters: COCOParameters
    n_images: int
    n_objects: Array
    n_detections: int
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> dict[str, float]:
        """AP, AP50 and so on: 12 scores (10 for keypoints) by name; -1 where there is nothing to average."""
        return summarize(self.precision, self.recall, self.parameters)

    @property
    def stats(self) -> Array:
        """The scores of the summary in their order, (12,) or (10,) float64."""
        return np.array(list(self.summary.values()))

    @property
    def class_ap(self) -> Array:
        """AP of each class over all thresholds, areas and the highest max_dets, (K,) float64; NaN: no objects."""
        return self.average_precision()

    def average_precision(
        self, *, iou_thr: float | None = None, area: str = "all", max_det: int | None = None
    ) -> Array:
        """AP of each class, (K,) float64; NaN for a class without objects.

        iou_thr: one of the thresholds; None: the mean of all; area: label of a range; max_det: one of max_dets; None:
        the largest
        Raises ConfigError if the evaluation does not include it.
        """
        values = self._chosen(self.precision, iou_thr, area, max_det)  # (T, R, K)
        return _class_means(values.transpose(2, 0, 1))

    def average_recall(self, *, iou_thr: float | None = None, area: str = "all", max_det: int | None = None) -> Array:
        """AR of each class, (K,) float64; see `average_precision`."""
        return _class_means(self._chosen(self.recall, iou_thr, area, max_det).T)

    def per_class(self) -> list[dict]:
        """One dictionary per class: id, name, n_objects, AP, AP50, AP75, AR; None where a score is undefined."""
        columns = {"AP": self.average_precision(), "AR": self.average_recall()}
        for name, thr in (("AP50", 0.5), ("AP75", 0.75)):
            if thr in self.parameters.iou_thrs:
                columns[name] = self.average_precision(iou_thr=thr)
        return [
            {"id": int(cat), "name": name, "n_objects": int(n)}
            | {key: None if np.isnan(column[k]) else float(column[k]) for key, column in columns.items()}
            for k, (cat, name, n) in enumerate(zip(self.cat_ids, self.cat_names, self.n_objects))
        ]

    def to_dict(self) -> dict:
        """The result for JSON: the keys of the summary, `per_class`, `counts` and `notes`."""
        return {
            **self.summary,
            "per_class": self.per_class(),
            "counts": {
                "images": self.n_images,
                "objects": int(self.n_objects.sum()),
                "detections": self.n_detections,
                "classes": len(self.cat_ids),
            },
            "iou_type": self.parameters.iou_type,
            "corrections": list(self.parameters.corrections),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        numbers = ", ".join(f"{key}={value:.4f}" for key, value in self.summary.items())
        return f"COCOResult({self.parameters.iou_type}, {counted(len(self.cat_ids), 'class', 'classes')}, {numbers})"

    def __str__(self) -> str:
        lines = [f"{key:6s} {value:7.4f}" for key, value in self.summary.items()]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def _chosen(self, values: Array, iou_thr: float | None, area: str, max_det: int | None) -> Array:
        parameters = self.parameters
        max_det = parameters.max_dets[-1] if max_det is None else max_det
        if area not in parameters.area_rng_lbl or max_det not in parameters.max_dets:
            raise ConfigError(
                "the evaluation does not include this area or max_det",
                expected=f"areas {parameters.area_rng_lbl}, max_dets {parameters.max_dets}",
                got=(area, max_det),
            )
        if iou_thr is not None:
            at = np.flatnonzero(parameters.iou_thrs == iou_thr)
            if not at.size:
                raise ConfigError(
                    "the evaluation does not include this threshold", expected=parameters.iou_thrs.tolist(), got=iou_thr
                )
            values = values[at]
        return values[..., parameters.area_rng_lbl.index(area), parameters.max_dets.index(max_det)]


def _class_means(values: Array) -> Array:
    """(K,) float64: the mean of the values above -1 of each class, NaN if there are none."""
    return np.array([np.mean(each[each > -1]) if (each > -1).any() else np.nan for each in values])
