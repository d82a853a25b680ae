"""Evaluates detections of a model or a results file with COCO's metrics."""

import argparse
import dataclasses
import pathlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cvzoo.cli.about_evaluation import thresholds_of
from cvzoo.cli.detection_files import read_box_results, result_format, write_box_results
from cvzoo.cli.find_in_photos import find_in_photos
from cvzoo.cli.json_records import write_json
from cvzoo.cli.load_detector import Finder, load_detector
from cvzoo.cli.load_predictor import with_inference_options
from cvzoo.cli.match_classes import match_classes
from cvzoo.cli.pr_curves import coco_curves
from cvzoo.cli.scored import Instances, Points, Scored, by_photo, without_unknown
from cvzoo.cli.truth import COCOTruth
from cvzoo.errors.exceptions import ConfigError, UnsupportedError
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.evaluate import evaluate_coco, take_detections
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.parameters import MEAN_OKS_SIGMA, OKS_SIGMAS, COCOParameters
from cvzoo.evaluations.coco.read_detections import read_coco_detections
from cvzoo.evaluations.explain.explain_coco import explain_coco
from cvzoo.evaluations.results.box_records import BoxRecords
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Array


class COCOCase(NamedTuple):
    """Detections to evaluate with COCO's metrics.

    dt: of the model or of the results file; parameters: of the evaluation; paths: of the images, None if unknown
    notes: remarks for the reader; thresholds: of the model, by description; model: None for results
    """

    dt: COCODetections
    parameters: COCOParameters
    paths: list[pathlib.Path] | None
    notes: list[str]
    thresholds: dict[str, float]
    model: Finder | None


def refuse_voc_options(args: argparse.Namespace) -> None:
    """Raises ConfigError for an option of VOC's metric."""
    of_voc = {"--use-07-metric": args.use_07_metric or None, "--plus": args.plus, "--iou-thresh": args.iou_thresh}
    for option, given in of_voc.items():
        if given is not None:
            raise ConfigError(f"{option} applies to VOC's metric, not to COCO's", hint="--metric voc")


def coco_case(truth: COCOTruth, args: argparse.Namespace, parameters: COCOParameters) -> COCOCase:
    """The detections of the model or of the results file of the command line."""
    if truth.gt.ignore is not None and truth.known_paths is not None:  # a VOC folder with difficult objects
        parameters = dataclasses.replace(parameters, corrections=(*parameters.corrections, "ignore_field"))
    if args.limit is not None:
        parameters = dataclasses.replace(parameters, img_ids=np.array(list(truth.file_names)))
    parameters = _with_sigmas(parameters, truth.gt, args.oks_sigma)
    paths: list[pathlib.Path] | None = None
    notes: list[str] = []
    thresholds: dict[str, float] = {}
    model: Finder | None = None
    if args.results is None:
        paths = truth.photo_paths(args.photos)
        # a model without any detection has a score of 0
        parameters = dataclasses.replace(parameters, corrections=(*parameters.corrections, "empty_results"))
        dt, model = _found_by_model(truth, paths, args)
        thresholds = thresholds_of(model)
    else:
        dt, notes = _read_results(truth, args.results, parameters)
        if args.photos is not None or args.data is not None:
            paths = truth.photo_paths(args.photos)
    if args.limit is not None:
        dt = _of_photos(dt, truth)
    return COCOCase(dt, parameters, paths, notes, thresholds, model)


def _with_sigmas(parameters: COCOParameters, gt: COCOGroundTruth, sigma: float | None) -> COCOParameters:
    """With one sigma for all keypoints if it is given or the keypoints are not COCO's 17. Raises ConfigError."""
    if parameters.iou_type != "keypoints":
        if sigma is not None:
            raise ConfigError("--oks-sigma applies to keypoints", hint="--iou-type keypoints")
        return parameters
    if gt.keypoints is None or (sigma is None and gt.keypoints.shape[1] == len(OKS_SIGMAS)):
        return parameters
    sigmas = np.full(gt.keypoints.shape[1], MEAN_OKS_SIGMA if sigma is None else sigma)
    return dataclasses.replace(parameters, kpt_oks_sigmas=sigmas)


def evaluate_on_coco(truth: COCOTruth, args: argparse.Namespace, parameters: COCOParameters) -> Scored:
    """The scores of the model or of the results file of the command line."""
    refuse_voc_options(args)
    dt, parameters, paths, notes, thresholds, model = coco_case(truth, args, parameters)
    if args.save_results is not None:
        save_detections(truth, dt, args)
    result = evaluate_coco(truth.gt, dt, parameters)
    explanation = None
    if args.explain is not None:
        explanation = explain_coco(truth.gt, dt, args.explain, parameters)
    per_class = result.per_class()
    record = result.to_dict()
    record["notes"] += notes
    columns = tuple(key for key in ("AP", "AP50", "AP75", "AR") if per_class and key in per_class[0])
    return Scored(
        summary=result.summary,
        per_class=per_class,
        columns=columns,
        record=record,
        curves=coco_curves(result),
        instances=coco_instances(truth, dt, paths, parameters),
        explanation=explanation,
        thresholds=thresholds | {"matches from overlap": _range_text(parameters.iou_thrs)},
        model=model,
    )


def save_detections(truth: COCOTruth, dt: COCODetections, args: argparse.Namespace) -> None:
    """Writes the detections to --save-results. Raises ConfigError if the format cannot hold them."""
    kind = result_format(args.save_results, args.save_format)
    if kind == "coco":
        write_json(_result_records(dt), args.save_results)
        return
    if dt.bbox is None:
        raise ConfigError(f"--save-format {kind} contains boxes only, but --iou-type is {args.iou_type}")
    names = dict(zip(truth.gt.cat_ids.tolist(), truth.gt.cat_names or map(str, truth.gt.cat_ids.tolist())))
    x, y, width, height = dt.bbox.T
    records = BoxRecords(
        image=[truth.file_names[image] or str(image) for image in dt.image_id.tolist()],
        label=[names[cat] for cat in dt.category_id.tolist()],
        score=dt.score,
        bbox=np.stack((y, x, y + height, x + width), axis=1),
        origin=["a detection of the model"] * len(dt),
    )
    write_box_results(args.save_results, kind, records, truth.label_names, truth.sizes, split=args.split)


def category_ids(truth: COCOTruth, label_names: tuple[str, ...] | None, n_class: int) -> np.ndarray:
    """(n_class,) int64: the id of the ground truth's class for each label of a model; -1 if it has none.

    label_names: the model's; None: the ground truth's classes in the order of their ids
    Raises ConfigError if no classes match.
    """
    order = np.argsort(truth.gt.cat_ids)
    names = truth.gt.cat_names or tuple(map(str, truth.gt.cat_ids.tolist()))
    index = match_classes(label_names, n_class, [names[k] for k in order])
    return np.where(index < 0, -1, truth.gt.cat_ids[order][index])


def _found_by_model(
    truth: COCOTruth, paths: list[pathlib.Path], args: argparse.Namespace
) -> tuple[COCODetections, Finder]:
    model = load_detector(args, args.iou_type)
    if args.score is None and args.score_thresh is None and args.nms_thresh is None:
        model.use_preset("evaluate")
    predictor = with_inference_options(model, args)
    ids = list(truth.file_names)
    image, label, score, shape = [], [], [], []
    numbers = None
    result: Any
    for result, image_id in zip(find_in_photos(predictor, paths, len(paths), args), ids):
        if numbers is None:
            numbers = category_ids(truth, model.label_names, model.n_fg_class)
        category = numbers[result.labels[0]]
        known = category >= 0
        image.append(np.full(int(known.sum()), image_id, np.int64))
        label.append(category[known])
        score.append(result.scores[0][known])
        shape.append((result.bboxes if args.iou_type == "bbox" else result[0])[0][known])
    dt = COCODetections(
        image_id=np.concatenate(image),
        category_id=np.concatenate(label).astype(np.int64),
        score=np.concatenate(score).astype(np.float64),
        **_columns(shape, args.iou_type),
    )
    return dt, model


def _range_text(values: Iterable[float]) -> str:
    values = list(values)
    low, high = float(min(values)), float(max(values))
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _columns(shapes: list[Any], iou_type: str) -> dict[str, Any]:
    """The shapes to compare, of all images. Masks and keypoints have no boxes, whose areas would be used as theirs."""
    if iou_type == "segm":
        return {"masks": RLEs.concatenate(shapes)}
    values = np.concatenate(shapes).astype(np.float64)
    if iou_type == "keypoints":  # y x to x y v
        return {"keypoints": np.concatenate((values[:, :, ::-1], np.full((*values.shape[:2], 1), 2.0)), axis=2)}
    y_min, x_min, y_max, x_max = values.reshape(-1, 4).T
    return {"bbox": np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1)}


def _read_results(truth: COCOTruth, name: str, parameters: COCOParameters) -> tuple[COCODetections, list[str]]:
    records = read_box_results(name, truth.label_names, truth.sizes)
    if records is None and truth.known_paths is not None and not truth.has_own_ids:
        raise UnsupportedError(
            f"{name}: COCO's results refer to image ids, which {truth.path} does not have",
            hint="comp4_det_SPLIT_CLASS.txt, YOLO's text files or a .csv",
        )
    if records is None:
        return read_coco_detections(name, parameters), []
    if parameters.iou_type != "bbox":
        raise ConfigError(f"{name} contains boxes, but --iou-type {parameters.iou_type} needs COCO's results .json")
    notes: list[str] = []
    if "unknown_class" in parameters.accept:
        records, notes = without_unknown(records, truth.labels)
    return records.to_coco(truth.images_by_name, truth.labels), notes


def _of_photos(dt: COCODetections, truth: COCOTruth) -> COCODetections:
    rows = np.flatnonzero(np.isin(dt.image_id, list(truth.file_names)))
    return take_detections(dt, rows)


def _result_records(dt: COCODetections) -> list[dict[str, Any]]:
    if dt.masks is not None:
        name, shapes = "segmentation", list[Any](dt.masks.to_coco())
    elif dt.keypoints is not None:
        name, shapes = "keypoints", dt.keypoints.reshape(len(dt.keypoints), -1).tolist()
    else:
        assert dt.bbox is not None, "detections have boxes, masks or keypoints"
        name, shapes = "bbox", dt.bbox.tolist()
    rows = zip(dt.image_id.tolist(), dt.category_id.tolist(), shapes, dt.score.tolist())
    return [
        {"image_id": image, "category_id": category, name: shape, "score": score}
        for image, category, shape, score in rows
    ]


def coco_instances(
    truth: COCOTruth, dt: COCODetections, paths: list[pathlib.Path] | None, parameters: COCOParameters
) -> Instances | None:
    """The objects and detections for the analysis; None if masks are compared and the results have none."""
    gt, ids, iou_type = truth.gt, np.array(list(truth.file_names), np.int64), parameters.iou_type
    if iou_type == "segm" and dt.masks is None:
        return None
    cats = np.sort(gt.cat_ids)
    order = np.argsort(ids)

    def columns(boxes: COCOGroundTruth | COCODetections, corners: Array, *extra: Array) -> list[list[Array]]:
        rows = np.flatnonzero(np.isin(boxes.image_id, ids) & np.isin(boxes.category_id, cats))
        image = order[np.searchsorted(ids[order], boxes.image_id[rows])]
        label = np.searchsorted(cats, boxes.category_id[rows])
        return by_photo(image, len(ids), corners[rows], label, *(each[rows] for each in extra), rows)

    gt_bboxes, gt_labels, gt_crowdeds, gt_rows = columns(gt, _corners(gt, iou_type), gt.crowd)
    pred_bboxes, pred_labels, pred_scores, pred_rows = columns(dt, _corners(dt, iou_type), dt.score)
    gt_masks, pred_masks, points = None, None, None
    if gt.masks is not None and dt.masks is not None and iou_type == "segm":
        gt_masks, pred_masks = [gt.masks[rows] for rows in gt_rows], [dt.masks[rows] for rows in pred_rows]
    elif gt.keypoints is not None and dt.keypoints is not None and iou_type == "keypoints":
        points = Points(
            pred=[dt.keypoints[rows, :, 1::-1] for rows in pred_rows],
            gt=[gt.keypoints[rows, :, 1::-1] for rows in gt_rows],
            gt_visibles=[gt.keypoints[rows, :, 2] > 0 for rows in gt_rows],
            gt_areas=[gt.area[rows] for rows in gt_rows],
            sigmas=parameters.kpt_oks_sigmas,
        )
    names = dict(zip(gt.cat_ids.tolist(), gt.cat_names or map(str, gt.cat_ids.tolist())))
    return Instances(
        label_names=tuple(names[cat] for cat in cats.tolist()),
        images=[name or str(number) for number, name in truth.file_names.items()],
        paths=[None] * len(ids) if paths is None else list(paths),
        gt_bboxes=gt_bboxes,
        gt_labels=gt_labels,
        gt_crowdeds=gt_crowdeds,
        gt_difficults=None,
        pred_bboxes=pred_bboxes,
        pred_labels=pred_labels,
        pred_scores=pred_scores,
        gt_masks=gt_masks,
        pred_masks=pred_masks,
        points=points,
    )


def _corners(boxes: Any, iou_type: str) -> Array:
    """(N, 4) float64, y_min x_min y_max x_max: of the boxes, or around masks or keypoints."""
    if iou_type == "segm":
        return boxes.masks.to_bbox().astype(np.float64)
    if boxes.bbox is None:
        x, y = boxes.keypoints[:, :, 0], boxes.keypoints[:, :, 1]
        return np.stack((y.min(axis=1), x.min(axis=1), y.max(axis=1), x.max(axis=1)), axis=1)
    x, y, width, height = boxes.bbox.T
    return np.stack((y, x, y + height, x + width), axis=1)
