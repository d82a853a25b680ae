"""Compares detections, instance masks or keypoints of two models or results files."""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from cvzoo.cli.compared import Compared, side
from cvzoo.cli.evaluate_coco import COCOCase, coco_case, coco_instances, refuse_voc_options
from cvzoo.cli.evaluate_lvis import load_lvis_truth, lvis_case
from cvzoo.cli.evaluate_voc import FoundOnVOC, voc_case, voc_instances
from cvzoo.cli.evaluate_voc_masks import voc_mask_case
from cvzoo.cli.scored import Instances
from cvzoo.cli.truth import COCOTruth, VOCTruth
from cvzoo.cli.worst_pictures import worst_pictures
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.analysis.match_detections import match_detections
from cvzoo.evaluations.analysis.pr_curves import calc_pr_curves
from cvzoo.evaluations.analysis.score_thresholds import calc_score_thresholds
from cvzoo.evaluations.analysis.worst_images import ImageErrors
from cvzoo.evaluations.coco.evaluate import coco_positives, known_detections, match_coco
from cvzoo.evaluations.coco.lvis import match_lvis
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.comparison.average_precision import WeightedAveragePrecision, weighted_coco_ap, weighted_voc_ap
from cvzoo.evaluations.voc.matches import match_voc_bboxes, match_voc_masks
from cvzoo.visualizations.report.detection_report import ReportPicture


def compare_on_coco(truth: COCOTruth, args: argparse.Namespace, parameters: COCOParameters) -> Compared:
    """Both sides with COCO's metrics. Raises ConfigError if one has boxes only, and the errors of evaluating it."""
    sides = [side(args, word) for word in (args.a, args.b)]
    refuse_voc_options(sides[0])
    cases = [coco_case(truth, each, parameters) for each in sides]
    instances = [coco_instances(truth, case.dt, case.paths, case.parameters) for case in cases]
    both = [each for each in instances if each is not None]
    if len(both) < 2:
        raise ConfigError("--iou-type segm needs masks, which one of the results lacks")
    names, aps, notes = both[0].label_names, [], list(truth.gt.notes)
    for case, word in zip(cases, (args.a, args.b)):
        ap, own = _coco_ap(truth, case, names)
        aps.append(ap)
        notes += [f"{word}: {note}" for note in (*own, *case.notes)]
    cat, _ = coco_positives(truth.gt, cases[0].parameters)
    return _compared(both, aps, np.bincount(cat, minlength=len(names)), notes)


def compare_on_voc(truth: VOCTruth, args: argparse.Namespace) -> Compared:
    """Both sides with VOC's metric."""
    sides = [side(args, word) for word in (args.a, args.b)]
    cases = [voc_case(truth, each) for each in sides]
    difficult = np.concatenate([np.zeros(0, bool), *truth.difficults])
    label = np.concatenate([np.zeros(0, np.int64), *truth.labels])
    image = np.repeat(np.arange(len(truth.labels)), [len(each) for each in truth.labels])
    positives = label[~difficult], image[~difficult]
    aps = [_voc_ap(truth, case, positives, use_07_metric=args.use_07_metric) for case in cases]
    instances = [
        voc_instances(
            truth, case.bboxes, case.labels, case.scores, pred_plus=truth.last_pixel if each.results is not None else 0
        )
        for case, each in zip(cases, sides)
    ]
    notes = [f"{word}: {note}" for word, case in zip((args.a, args.b), cases) for note in case.notes]
    return _compared(instances, aps, np.bincount(positives[0], minlength=len(truth.names)), notes)


def compare_on_lvis(args: argparse.Namespace) -> Compared:
    """Both sides with LVIS' AP; images change by detections of classes that they are annotated for."""
    sides = [side(args, word) for word in (args.a, args.b)]
    loaded = load_lvis_truth(sides[0])
    truth, aps, both, labels = loaded.truth, [], [], np.zeros(0, np.int64)
    for each in sides:
        case = lvis_case(loaded, each)
        matches, gt, dt, parameters = match_lvis(truth.gt, case.dt, loaded.labelling, case.parameters)
        instances = coco_instances(truth, dt, case.paths, parameters)
        if instances is None:
            raise ConfigError("--iou-type segm needs masks, which one of the results lacks")
        positives = coco_positives(gt, parameters)
        aps.append(
            weighted_coco_ap(matches, positives, instances.label_names, parameters.iou_thrs, parameters.rec_thrs)
        )
        both.append(instances)
        labels = positives[0]
    return _compared(both, aps, np.bincount(labels, minlength=len(both[0].label_names)), [])


def compare_on_voc_masks(truth: COCOTruth, args: argparse.Namespace, parameters: COCOParameters) -> Compared:
    """Both sides with VOC's metric of masks."""
    iou_thresh = 0.5 if args.iou_thresh is None else args.iou_thresh
    sides = [side(args, word) for word in (args.a, args.b)]
    cases = [voc_mask_case(truth, each, parameters) for each in sides]
    aps = []
    for _, instances, positives in cases:
        matches = match_voc_masks(
            instances.pred_masks or [], instances.pred_labels, instances.pred_scores,
            instances.gt_masks or [], instances.gt_labels,
            iou_thresh=iou_thresh,
        )  # fmt: skip
        aps.append(weighted_voc_ap(matches, positives, instances.label_names, use_07_metric=args.use_07_metric))
    notes = [f"{word}: {note}" for word, (case, _, _) in zip((args.a, args.b), cases) for note in case.notes]
    both = [instances for _, instances, _ in cases]
    n_objects = np.bincount(cases[0][2][0], minlength=len(both[0].label_names))
    return _compared(both, aps, n_objects, notes)


def _coco_ap(
    truth: COCOTruth, case: COCOCase, names: Sequence[str]
) -> tuple[WeightedAveragePrecision, tuple[str, ...]]:
    dt, notes = known_detections(truth.gt, case.dt, case.parameters)
    positives = coco_positives(truth.gt, case.parameters)
    matches = match_coco(truth.gt, dt, case.parameters)
    return weighted_coco_ap(matches, positives, names, case.parameters.iou_thrs, case.parameters.rec_thrs), notes


def _voc_ap(truth: VOCTruth, case: FoundOnVOC, positives: tuple, *, use_07_metric: bool) -> WeightedAveragePrecision:
    matches = match_voc_bboxes(
        case.bboxes, case.labels, case.scores, truth.bboxes, truth.labels, truth.difficults,
        iou_thresh=case.iou_thresh, plus=case.plus,
    )  # fmt: skip
    return weighted_voc_ap(matches, positives, truth.names, use_07_metric=use_07_metric)


def _compared(
    instances: list[Instances], aps: list[WeightedAveragePrecision], n_objects: np.ndarray, notes: list[str]
) -> Compared:
    names, paths = instances[0].label_names, instances[0].images
    errors = [_errors(each) for each in instances]

    def pictures(images: Sequence[int]) -> Iterator[ReportPicture]:
        for i in images:
            for name, each, own in zip("AB", instances, errors):
                record = own.record(i, bboxes=(each.pred_bboxes, each.gt_bboxes), label_names=names, image=paths[i])
                for picture in worst_pictures(
                    [record], instances[0].paths if instances[0].paths[i] else instances[1].paths
                ):
                    yield picture._replace(caption=f"{name}: {picture.caption}")

    n_summary = len(aps[0].names) - len(names)
    return Compared(
        scores=(aps[0], aps[1]),
        summary=aps[0].names[:n_summary],
        classes=names,
        n_objects=n_objects,
        counted="objects",
        images=paths,
        of_images=np.stack([each.n_error for each in errors]).astype(np.float64),
        measure="false positives and false negatives from the score of the best F1 of all classes on, at IoU 0.5",
        is_error=True,
        pictures=pictures,
        notes=notes,
    )


def _errors(instances: Instances) -> ImageErrors:
    """The errors of each image with detections from the score on that gives the best F1 over all classes together.

    A score per class would be the lowest possible where a class is hardly found, and count hundreds of detections.
    """
    table = instances.table()
    match, matched = match_detections(table)
    pooled = calc_pr_curves(table.pred_score, np.zeros_like(table.pred_label), match, [table.n_positive.sum()])
    (least,) = np.nan_to_num(calc_score_thresholds(pooled).threshold, nan=np.inf)
    return ImageErrors(table, match, matched, None, np.full(table.n_fg_class, least), n_image=len(instances.images))
