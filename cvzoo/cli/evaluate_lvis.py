"""Evaluates detections or instance masks with LVIS' metrics."""

import argparse
import pathlib
from typing import Any, NamedTuple

from cvzoo.cli.evaluate_coco import COCOCase, coco_case, refuse_voc_options, save_detections
from cvzoo.cli.pr_curves import coco_curves
from cvzoo.cli.scored import Scored
from cvzoo.cli.truth import COCOTruth
from cvzoo.datasets.layouts.coco_files import LVIS, coco_file
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.coco.image_names import read_image_names
from cvzoo.evaluations.coco.lvis import LVISLabelling, evaluate_lvis, lvis_parameters, read_lvis_labelling
from cvzoo.evaluations.coco.read_ground_truth import read_coco_ground_truth


class LVISTruth(NamedTuple):
    """LVIS' annotations: objects, and for which classes each image is annotated."""

    truth: COCOTruth
    labelling: LVISLabelling


def load_lvis_truth(args: argparse.Namespace) -> LVISTruth:
    """The annotations of `lvis:FILE.json`, or of a split of `lvis:ROOT`.

    Raises ConfigError for options that do not apply, and reading errors.
    """
    refuse_voc_options(args)
    for option, given in (("--corrections", args.corrections), ("--max-dets", args.max_dets), ("--metric", args.metric),
                          ("--explain", args.explain), ("--find-thresholds", args.find_thresholds)):  # fmt: skip
        if given:
            raise ConfigError(f"{option} does not apply to LVIS' metrics")
    if (args.data is None) == (args.gt is None):
        raise ConfigError(
            "evaluate needs one ground truth", hint="--data SPEC to run a model, or --gt SPEC for --results"
        )
    parameters = lvis_parameters(args.iou_type)
    path = _annotation_file(args.data or args.gt, args.split)
    source = path.read_bytes()
    file_names = dict(list(read_image_names(source, name=str(path)).items())[: args.limit])
    labelling = read_lvis_labelling(source)
    gt = read_coco_ground_truth(source, parameters)
    return LVISTruth(COCOTruth(path, gt, file_names, allow_outside=args.allow_outside), labelling)


def _annotation_file(spec: str, split: str | None) -> pathlib.Path:
    """The file of `lvis:FILE.json`, or the one of a split in `lvis:ROOT`."""
    _, _, rest = spec.partition(":")
    path = pathlib.Path(rest)
    if not rest:
        raise ConfigError(f"{spec}: the path of the data set is missing", expected="lvis:FILE.json or lvis:ROOT")
    if path.is_dir():
        return coco_file(path, split, first=LVIS)
    if split is not None:
        raise ConfigError("--split applies to folders; a file of LVIS is one split", hint="lvis:ROOT --split val")
    return path


def lvis_case(loaded: LVISTruth, args: argparse.Namespace) -> COCOCase:
    """The detections of the model or of the results file of the command line."""
    return coco_case(loaded.truth, args, lvis_parameters(args.iou_type))


def evaluate_on_lvis(args: argparse.Namespace) -> Scored:
    """The scores of the model or of the results file of the command line; there is no analysis by image.

    An analysis would take objects of classes that an image is not annotated for as errors.
    """
    loaded = load_lvis_truth(args)
    case = lvis_case(loaded, args)
    truth = loaded.truth
    if args.save_results is not None:
        save_detections(truth, case.dt, args)
    ids = None if args.limit is None else list(truth.file_names)
    result = evaluate_lvis(truth.gt, case.dt, iou_type=args.iou_type, labelling=loaded.labelling, img_ids=ids)
    names = {"r": "rare", "c": "common", "f": "frequent"}
    per_class: list[dict[str, Any]] = [
        {**row, "frequency": names.get(frequency)} for row, frequency in zip(result.coco.per_class(), result.frequency)
    ]
    record = result.coco.to_dict() | {"per_class": per_class}
    record = {**result.summary, **{key: value for key, value in record.items() if key not in result.coco.summary}}
    record["notes"] = [*record["notes"], *case.notes]
    columns = ("AP", "AP50", "AP75", "AR")
    return Scored(
        result.summary, per_class, columns, record, coco_curves(result.coco), None, None, case.thresholds, case.model
    )
