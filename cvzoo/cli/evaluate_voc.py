"""Evaluates detections of a model or a results file with VOC's metric."""

import argparse
import os
from typing import Any, NamedTuple

import numpy as np

from cvzoo.cli.about_evaluation import thresholds_of
from cvzoo.cli.detection_files import read_box_results, result_format, write_box_results
from cvzoo.cli.find_in_photos import find_in_photos
from cvzoo.cli.load_detector import Finder, load_detector
from cvzoo.cli.load_predictor import with_inference_options
from cvzoo.cli.match_classes import match_classes
from cvzoo.cli.pr_curves import voc_curves
from cvzoo.cli.scored import Instances, Scored, by_photo, without_unknown
from cvzoo.cli.truth import VOCTruth
from cvzoo.errors.exceptions import ConfigError, FileError, UnsupportedError
from cvzoo.evaluations.explain.explain_voc import explain_voc
from cvzoo.evaluations.explain.voc_rules import VOCCase
from cvzoo.evaluations.results.box_records import BoxRecords
from cvzoo.evaluations.voc.accumulators import DetectionVOCAccumulator
from cvzoo.evaluations.voc.result import VOCResult
from cvzoo.links.model.detections import AbstractInstances
from cvzoo.typing.aliases import BBox, Label, Score

_LAST = np.array([0, 0, 1, 1])


class FoundOnVOC(NamedTuple):
    """Detections to evaluate with VOC's metric, as `eval_detection_voc` takes them.

    notes: remarks for the reader; thresholds: of the model, by description; model: None for results
    iou_thresh: minimal IoU of a match; plus: added to width and height of boxes for their areas
    """

    bboxes: list[BBox]
    labels: list[Label]
    scores: list[Score]
    notes: list[str]
    thresholds: dict[str, float]
    iou_thresh: float
    plus: int
    model: Finder | None


def voc_case(truth: VOCTruth, args: argparse.Namespace) -> FoundOnVOC:
    """The detections of the model or of the results file of the command line."""
    for option, given in (("--iou-type", args.iou_type != "bbox"), ("--corrections", args.corrections),
                          ("--max-dets", args.max_dets)):  # fmt: skip
        if given:
            raise ConfigError(f"{option} applies to COCO's metrics, not to VOC's", hint="--metric coco")
    if args.save_results is not None and result_format(args.save_results, args.save_format) == "coco":
        raise UnsupportedError(
            f"--save-results {args.save_results}: COCO's results refer to ids, but VOC's metric needs names",
            hint="a FILE.csv or a folder DIR/, or --metric coco",
        )
    if not truth.photo_names:
        raise ConfigError(f"{truth.path} contains no images", hint="--split NAME")
    iou_thresh = 0.5 if args.iou_thresh is None else args.iou_thresh
    plus = truth.last_pixel if args.plus is None else args.plus
    if args.results is None:
        bboxes, labels, scores, model = _found_by_model(truth, args)
        thresholds = thresholds_of(model)
        if args.save_results is not None:
            _save(truth, bboxes, labels, scores, args)
        notes: list[str] = []
    else:
        thresholds, model = {}, None
        bboxes, labels, scores, notes = _read_results(truth, args.results, drop=args.drop_unknown_classes)
    return FoundOnVOC(bboxes, labels, scores, notes, thresholds, iou_thresh, plus, model)


def evaluate_on_voc(truth: VOCTruth, args: argparse.Namespace) -> Scored:
    """VOC's mAP and AP per class of the model or of the results file of the command line.

    The boxes of a VOC folder include their last pixel, so 1 is added to width and height of all boxes, also of the
    model's, as in ChainerCV, unless --plus is given.
    """
    bboxes, labels, scores, notes, thresholds, iou_thresh, plus, model = voc_case(truth, args)
    accumulator = DetectionVOCAccumulator(iou_thresh=iou_thresh, n_fg_class=len(truth.names), plus=plus)
    accumulator.update(bboxes, labels, scores, truth.bboxes, truth.labels, truth.difficults)
    result = accumulator.compute(use_07_metric=args.use_07_metric)
    record = voc_record(result, truth.names, iou_thresh, notes, use_07_metric=args.use_07_metric, plus=plus)
    explanation = None
    if args.explain is not None:
        case = VOCCase(
            bboxes, labels, scores, truth.bboxes, truth.labels, truth.difficults,
            iou_thresh=iou_thresh, use_07_metric=args.use_07_metric, plus=plus,
        )  # fmt: skip
        explanation = explain_voc(case, args.explain)
    curves = voc_curves(result, truth.names, iou_thresh)
    instances = voc_instances(truth, bboxes, labels, scores, pred_plus=truth.last_pixel if args.results else 0)
    thresholds["matches from overlap"] = iou_thresh
    return Scored(
        {"map": record["map"]}, record["per_class"], ("AP",), record, curves, instances, explanation, thresholds, model
    )


def voc_record(
    result: VOCResult,
    names: tuple[str, ...],
    iou_thresh: float,
    notes: list[str],
    *,
    use_07_metric: bool,
    plus: int | None = None,
) -> dict[str, Any]:
    """The scores for JSON: map, per_class, metric, iou_thresh, plus (of boxes), counts, notes."""
    per_class = [
        {"id": l, "name": name, "n_objects": int(n), "AP": None if np.isnan(ap) else float(ap)}
        for l, (name, n, ap) in enumerate(zip(names, result.n_positive, result.ap))
    ]
    return {
        "map": -1.0 if np.isnan(result.map) else result.map,
        "per_class": per_class,
        "metric": "VOC, 11 recalls" if use_07_metric else "VOC, area",
        "iou_thresh": iou_thresh,
        **({} if plus is None else {"plus": plus}),
        "counts": {
            "images": result.n_photo,
            "objects": int(result.n_positive.sum()),
            "detections": int(result.n_detection.sum()),
            "classes": len(names),
        },
        "notes": [*result.notes, *notes],
    }


def _found_by_model(truth: VOCTruth, args: argparse.Namespace) -> tuple[list[BBox], list[Label], list[Score], Finder]:
    model = load_detector(args)
    if args.score is None and args.score_thresh is None and args.nms_thresh is None:
        model.use_preset("evaluate")
    predictor = with_inference_options(model, args)
    numbers = match_classes(model.label_names, model.n_fg_class, truth.names)
    bboxes, labels, scores = [], [], []
    result: AbstractInstances
    for result in find_in_photos(predictor, truth.photo_paths, len(truth.photo_names), args):
        label = numbers[result.labels[0]]
        known = label >= 0
        bboxes.append(result.bboxes[0][known])
        labels.append(label[known])
        scores.append(result.scores[0][known])
    return bboxes, labels, scores, model


def _save(
    truth: VOCTruth, bboxes: list[BBox], labels: list[Label], scores: list[Score], args: argparse.Namespace
) -> None:
    kind = result_format(args.save_results, args.save_format)
    # the metric takes the model's boxes as boxes that include their last pixel, if the ground truth's do
    bbox = np.concatenate([np.zeros((0, 4)), *bboxes]) + truth.last_pixel * _LAST
    images = [name for name, label in zip(truth.photo_names, labels) for _ in label]
    records = BoxRecords(
        image=images,
        label=[truth.names[l] for l in np.concatenate([np.zeros(0, np.int64), *labels])],
        score=np.concatenate([np.zeros(0), *scores]).astype(np.float64),
        bbox=bbox,
        origin=["a detection of the model"] * len(images),
    )
    write_box_results(args.save_results, kind, records, truth.names, truth.sizes, split=args.split)


def _read_results(truth: VOCTruth, name: str, *, drop: bool) -> tuple[list[BBox], list[Label], list[Score], list[str]]:
    if not os.path.exists(name):
        raise FileError(f"{name}: there is no such file or folder of results")
    records = read_box_results(name, truth.names, truth.sizes)
    if records is None:
        raise UnsupportedError(
            f"{name}: COCO's results refer to ids of images and classes, but VOC's metric needs names",
            hint="comp4_det_SPLIT_CLASS.txt or a .csv, or --metric coco",
        )
    label_of = {str(l): l for l in range(len(truth.names))} | {name: l for l, name in enumerate(truth.names)}
    notes: list[str] = []
    if drop:
        records, notes = without_unknown(records, label_of)
    image, label = records.places(truth.images_by_name, label_of)
    bbox = records.bbox
    if truth.last_pixel:  # from half-open boxes to boxes that include their last pixel, as in the ground truth
        bbox = bbox - _LAST
        small = (bbox[:, 2:] < bbox[:, :2]).any(axis=1)
        bbox[small, 2:] = np.maximum(bbox[small, 2:], bbox[small, :2])
    bboxes, labels, scores = by_photo(image, len(truth.photo_names), bbox, label, records.score)
    return bboxes, labels, scores, notes


def voc_instances(
    truth: VOCTruth, bboxes: list[BBox], labels: list[Label], scores: list[Score], *, pred_plus: int
) -> Instances:
    """The objects and detections for the analysis. pred_plus: 1 if the detections include their last pixel"""
    return Instances(
        label_names=truth.names,
        images=truth.photo_names,
        paths=truth.photo_paths,
        gt_bboxes=[bbox.astype(np.float64) + truth.last_pixel * _LAST for bbox in truth.bboxes],
        gt_labels=truth.labels,
        gt_crowdeds=None,
        gt_difficults=truth.difficults,
        pred_bboxes=[np.asarray(bbox, np.float64) + pred_plus * _LAST for bbox in bboxes],
        pred_labels=labels,
        pred_scores=scores,
    )
