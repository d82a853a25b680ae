"""Finds a score threshold for each class of a detector, and stores them in its model file as the preset "deploy"."""

import argparse
import json
from typing import Any

import numpy as np

from cvzoo.cli.about_evaluation import about_evaluation
from cvzoo.cli.match_classes import class_indices
from cvzoo.cli.result_table import printable
from cvzoo.cli.score_text import number
from cvzoo.cli.scored import Scored
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.analysis.match_detections import match_detections
from cvzoo.evaluations.analysis.pr_curves import calc_pr_curves
from cvzoo.evaluations.analysis.score_thresholds import ScoreThresholds, calc_score_thresholds
from cvzoo.links.model.thresholds import AbstractThresholds, ClassPreset
from cvzoo.reporting.counted import counted
from cvzoo.serializers.model_file import save_model
from cvzoo.typing.aliases import Array

_NEVER = 1.0  # no score is above it
_FEW = 10  # objects


def find_thresholds(scored: Scored, args: argparse.Namespace) -> dict[str, Any]:
    """The thresholds for JSON; the model has them as its preset "deploy", and is saved if --save-model is given.

    A class without objects keeps the threshold of the preset "visualize". A class whose detections are never
    right, or never reach the requested precision, gets the threshold 1: it is never predicted.
    Raises ConfigError if there are no instances to match, UnsupportedError if files cannot hold the model.
    """
    model, instances = scored.model, scored.instances
    if model is None or instances is None:
        raise ConfigError("--find-thresholds needs the detections of a model")
    table = instances.table()
    iou_thresh = 0.5 if args.iou_thresh is None else args.iou_thresh
    match, _ = match_detections(table, iou_thresh=iou_thresh)
    curves = calc_pr_curves(table.pred_score, table.pred_label, match, table.n_positive)
    best = calc_score_thresholds(curves, precision=args.find_thresholds.precision)
    index = class_indices(model.label_names, model.n_fg_class, instances.label_names)
    thresholds = _of_classes(model, best, table.n_positive, index)
    nms_thresh = model.nms_thresh
    model.add_preset("deploy", ClassPreset(nms_thresh, float(thresholds.min()), tuple(thresholds.tolist())))
    names = model.label_names or tuple(map(str, range(model.n_fg_class)))
    record = {
        "rule": str(args.find_thresholds),
        "iou_thresh": iou_thresh,
        "classes": [_row(name, thresholds[l], best, table.n_positive, int(index[l])) for l, name in enumerate(names)],
    }
    if args.save_model is not None:
        about = about_evaluation(args, {})
        facts = {"rule": record["rule"], "data": about["data"], "date": about["date"], "program": about["program"]}
        save_model(args.save_model, model, metadata={"deploy": json.dumps(facts)})
    return record


def thresholds_text(record: dict[str, Any]) -> str:
    """A table of `find_thresholds`' record: one line per class."""
    rows = record["classes"]
    names = [printable(row["name"]) for row in rows]
    width = max([len("class"), *map(len, names)])
    lines = [f"{'class':<{width}}   score  precision  recall      F1   (preset deploy, {record['rule']})"]
    for name, row in zip(names, rows):
        values = (number(row["precision"]), number(row["recall"]), number(row["f1"]))
        what = "" if row["note"] is None else f"  {row['note']}"
        lines.append(f"{name:<{width}}  {number(row['score'])}     {values[0]}  {values[1]}  {values[2]}{what}")
    n_few = sum(0 < row["n_objects"] < _FEW for row in rows)
    if n_few:
        lines.append(
            f"note: {counted(n_few, 'class has', 'classes have')} fewer than {_FEW} objects, too few for a "
            "reliable threshold"
        )
    return "\n".join(lines)


def _of_classes(model: AbstractThresholds, best: ScoreThresholds, n_positive: Array, index: Array) -> Array:
    """(n_fg_class,) float64: what each class of the model must score above. index: of the ground truth's classes."""
    thresholds = np.full(len(index), model.presets["visualize"].score_thresh, np.float64)
    for l, k in enumerate(index):
        if k >= 0 and n_positive[k]:
            score = best.threshold[k]
            # detections of the found score itself are to be kept, and only scores above a threshold are
            thresholds[l] = _NEVER if np.isnan(score) else np.nextafter(np.float32(score), np.float32(-1))
    return thresholds


def _row(name: str, score: float, best: ScoreThresholds, n_positive: Array, k: int) -> dict[str, Any]:
    note = None
    if k < 0 or not n_positive[k]:
        note = "no objects in the data: as in the preset visualize"
    elif np.isnan(best.threshold[k]):
        note = "not reached: never predicted"
    some = note is None
    return {
        "name": name,
        "n_objects": int(n_positive[k]) if k >= 0 else 0,
        "score": float(score),
        "precision": float(best.precision[k]) if some else None,
        "recall": float(best.recall[k]) if some else None,
        "f1": float(best.f1[k]) if some else None,
        "note": note,
    }
