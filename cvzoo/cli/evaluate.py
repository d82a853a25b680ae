"""`cvzoo evaluate`: evaluates a model on annotated images, or a results file."""

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from cvzoo.cli.about_evaluation import about_evaluation
from cvzoo.cli.check_target import check_target
from cvzoo.cli.class_truth import class_kind
from cvzoo.cli.detection_files import result_format
from cvzoo.cli.evaluate_classes import evaluate_on_classes
from cvzoo.cli.evaluate_coco import evaluate_on_coco
from cvzoo.cli.evaluate_label_maps import evaluate_label_maps
from cvzoo.cli.evaluate_lvis import evaluate_on_lvis
from cvzoo.cli.evaluate_panoptic import evaluate_panoptic
from cvzoo.cli.evaluate_voc import evaluate_on_voc
from cvzoo.cli.evaluate_voc_masks import evaluate_on_voc_masks
from cvzoo.cli.find_thresholds import find_thresholds, thresholds_text
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.label_map_truth import means_label_maps
from cvzoo.cli.mask_truth import load_mask_truth, means_voc_masks
from cvzoo.cli.result_table import printable
from cvzoo.cli.score_text import class_table, summary_text
from cvzoo.cli.scored import Scored
from cvzoo.cli.truth import COCOTruth, VOCTruth, load_truth
from cvzoo.cli.truth_metric import as_coco, as_voc
from cvzoo.cli.verdicts import detection_verdicts, write_verdicts
from cvzoo.cli.worst_pictures import N_WORST, worst_pictures
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.analysis.analyze_detections import analyze_table
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.visualizations.report.detection_report import ReportPicture, write_detection_report


def run(args: argparse.Namespace) -> int:
    """Returns 0. Raises CvzooError or OSError if anything cannot be evaluated; there are no partial scores."""
    has_model = args.model is not None or args.cfg is not None
    if has_model == (args.results is not None):
        raise ConfigError(
            "evaluate needs either a model or results", hint="--model or --cfg --weights, or --results FILE"
        )
    if args.compile and not has_model:
        raise ConfigError("--compile needs a model, but --results has none")
    for target in (args.json, args.report, args.save_model, args.verdicts):
        check_target(target)
    if args.save_results is not None and not has_model:
        raise ConfigError("--save-results needs a model, but --results has none")
    if args.find_thresholds is not None and not has_model:
        raise ConfigError("--find-thresholds needs a model, but --results has none")
    if args.save_model is not None and args.find_thresholds is None:
        raise ConfigError("--save-model saves found thresholds", hint="--find-thresholds f1")
    if means_label_maps(args):
        return evaluate_label_maps(args)
    if args.metric == "miou":
        raise ConfigError(
            "--metric miou applies to label maps", expected="--data voc:ROOT, camvid:ROOT, labels:DIR ..."
        )
    if (args.data or args.gt or "").startswith("panoptic:"):
        if args.verdicts is not None:
            raise ConfigError("--verdicts does not apply to panoptic segmentation")
        return evaluate_panoptic(args)
    if args.ignore != (255,):
        raise ConfigError("--ignore applies to label maps only")
    is_of_classes = class_kind(args.data or args.gt or "") is not None
    if args.save_results is None and args.save_format is not None:
        raise ConfigError("--save-format needs --save-results")
    if args.save_results is not None and result_format(args.save_results, args.save_format) != "csv" and is_of_classes:
        raise ConfigError(f"--save-results {args.save_results}: results of image classification are a FILE.csv")
    if args.batch_size is None:
        args.batch_size = 32 if is_of_classes else 1
    if has_model and args.data is None:
        raise ConfigError("a model needs images to predict on", hint="--data coco:FILE.json or --data voc:FOLDER")
    if (args.data or args.gt or "").startswith("sbd:"):
        args.iou_type = "segm"
    parameters = COCOParameters(
        iou_type=args.iou_type,
        corrections=args.corrections,
        max_dets=args.max_dets,
        accept=("unknown_class",) if args.drop_unknown_classes else (),
    )
    if is_of_classes:
        if (args.data is None) == (args.gt is None):
            raise ConfigError(
                "evaluate needs one ground truth", hint="--data SPEC to run a model, or --gt SPEC for --results"
            )
        return evaluate_on_classes(args)
    if (args.data or args.gt or "").startswith("lvis:"):
        return _report(evaluate_on_lvis(args), args)
    if means_voc_masks(args):
        scored = _of_voc_masks(args, parameters)
        return _report(scored, args)
    truth = load_truth(args, parameters, limit=args.limit)
    if (args.metric or ("voc" if isinstance(truth, VOCTruth) else "coco")) == "voc":
        paths = truth.photo_paths(args.photos) if isinstance(truth, COCOTruth) and args.data is not None else None
        scored = evaluate_on_voc(as_voc(truth, paths), args)
    else:
        scored = evaluate_on_coco(as_coco(truth), args, parameters)
    return _report(scored, args)


def _of_voc_masks(args: argparse.Namespace, parameters: COCOParameters) -> Scored:
    truth = load_mask_truth(args)
    if args.metric == "coco":
        return evaluate_on_coco(truth, args, parameters)
    return evaluate_on_voc_masks(truth, args, parameters)


def _report(scored: Scored, args: argparse.Namespace) -> int:
    """Writes and prints what is requested, and returns 0."""
    record = dict(scored.record)
    verdicts = None
    if args.json is not None or args.report is not None or args.verdicts is not None:
        record["analysis"], verdicts = _analysis(scored, every_image=args.verdicts is not None)
        if args.verdicts is not None and verdicts is None:
            raise ConfigError("--verdicts needs objects that are compared one by one, which these results have not")
    if args.find_thresholds is not None:
        record["deploy"] = find_thresholds(scored, args)
    if scored.explanation is not None:
        record["explanation"] = scored.explanation.to_dict()
    # files first, since the reader of standard output may close the pipe early
    if args.json not in (None, "-"):
        write_json(record, args.json)
    if verdicts is not None and args.verdicts is not None:
        write_verdicts(args.verdicts, verdicts)
    if args.report is not None:
        pictures: Iterable[ReportPicture] = ()
        if scored.instances is not None:
            pictures = worst_pictures(record["analysis"]["worst_photos"], scored.instances.paths)
        about = about_evaluation(args, scored.thresholds)
        write_detection_report(args.report, record, pictures=pictures, about=about)
        print(f"report: {printable(args.report)}", file=sys.stderr)
    if args.json == "-":
        print(as_json(record).decode("utf-8"))
    else:
        _print(scored, quiet=args.quiet)
        if "deploy" in record:
            print(f"\n{thresholds_text(record['deploy'])}")
    return 0


def _print(scored: Scored, *, quiet: bool) -> None:
    if not quiet:
        print(class_table(scored.per_class, scored.columns))
        print()
    print(summary_text(scored.summary))
    for note in scored.record["notes"]:
        print(f"note: {note}")
    if scored.explanation is not None:
        print()
        print(scored.explanation)


def _analysis(scored: Scored, *, every_image: bool) -> tuple[dict[str, Any], list[dict[str, Any]] | None]:
    """The analysis, and if asked for the verdicts of every image."""
    each = scored.instances
    if each is None:
        return {"pr_curves": scored.curves}, None
    analysis = analyze_table(
        each.table(),
        each.pred_bboxes,
        each.gt_bboxes,
        label_names=each.label_names,
        images=each.images,
        n_worst=max(len(each.images), N_WORST) if every_image else N_WORST,
    )
    verdicts = detection_verdicts(analysis["worst_photos"], each) if every_image else None
    worst = analysis["worst_photos"][:N_WORST]
    return analysis | {"pr_curves": scored.curves, "worst_photos": worst}, verdicts
