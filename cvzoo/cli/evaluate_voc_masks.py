"""Evaluates instance masks with VOC's metric."""

import argparse

import numpy as np

from cvzoo.cli.evaluate_coco import COCOCase, coco_case, coco_instances, save_detections
from cvzoo.cli.evaluate_voc import voc_record
from cvzoo.cli.pr_curves import voc_curves
from cvzoo.cli.scored import Instances, Scored
from cvzoo.cli.truth import COCOTruth
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.coco.evaluate import known_detections
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.voc.accumulators import InstanceSegmentationVOCAccumulator


def evaluate_on_voc_masks(truth: COCOTruth, args: argparse.Namespace, parameters: COCOParameters) -> Scored:
    """VOC's mAP and AP per class of the masks of the model or of the results file of the command line."""
    case, predictions, _ = voc_mask_case(truth, args, parameters)
    if args.save_results is not None:
        save_detections(truth, case.dt, args)
    iou_thresh = 0.5 if args.iou_thresh is None else args.iou_thresh
    names = predictions.label_names
    accumulator = InstanceSegmentationVOCAccumulator(iou_thresh=iou_thresh, n_fg_class=len(names))
    accumulator.update(
        predictions.pred_masks or [],
        predictions.pred_labels,
        predictions.pred_scores,
        predictions.gt_masks or [],
        predictions.gt_labels,
    )
    result = accumulator.compute(use_07_metric=args.use_07_metric)
    record = voc_record(result, names, iou_thresh, case.notes, use_07_metric=args.use_07_metric)
    summary = {"map": record["map"]}
    thresholds = case.thresholds | {"matches from overlap": iou_thresh}
    curves = voc_curves(result, names, iou_thresh)
    return Scored(summary, record["per_class"], ("AP",), record, curves, predictions, None, thresholds, case.model)


def voc_mask_case(
    truth: COCOTruth, args: argparse.Namespace, parameters: COCOParameters
) -> tuple[COCOCase, Instances, tuple[np.ndarray, np.ndarray]]:
    """The detections, all masks by image, and class and image of each object.

    Raises ConfigError for an option that does not apply to VOC's metric of masks, or results without masks.
    """
    for option, given in (("--corrections", args.corrections), ("--max-dets", args.max_dets), ("--plus", args.plus),
                          ("--explain", args.explain)):  # fmt: skip
        if given:
            raise ConfigError(f"{option} does not apply to VOC's metric of masks", hint="--metric coco")
    case = coco_case(truth, args, parameters)
    dt, notes = known_detections(truth.gt, case.dt, case.parameters)
    case = case._replace(dt=dt, notes=[*case.notes, *notes])
    predictions = coco_instances(truth, dt, case.paths, case.parameters)
    if predictions is None:
        raise ConfigError("the results have no masks", expected="COCO's results with `segmentation`")
    image = np.repeat(np.arange(len(predictions.gt_labels)), [len(label) for label in predictions.gt_labels])
    return case, predictions, (np.concatenate([np.zeros(0, np.int64), *predictions.gt_labels]), image)
