"""`cvzoo evaluate`: scores of a model on annotated photos, or of anybody's results file."""

import argparse
import sys
from typing import Any

from cvzoo.cli.about_evaluation import about_evaluation
from cvzoo.cli.check_target import check_target
from cvzoo.cli.class_truth import class_kind
from cvzoo.cli.compiling import add_compile_argument
from cvzoo.cli.evaluate_classes import evaluate_on_classes
from cvzoo.cli.evaluate_coco import evaluate_on_coco
from cvzoo.cli.evaluate_label_maps import evaluate_label_maps
from cvzoo.cli.evaluate_panoptic import evaluate_panoptic
from cvzoo.cli.evaluate_voc import evaluate_on_voc
from cvzoo.cli.json_records import as_json, write_json
from cvzoo.cli.load_detector import add_model_arguments
from cvzoo.cli.result_table import printable
from cvzoo.cli.score_text import class_table, summary_text
from cvzoo.cli.scored import Scored
from cvzoo.cli.truth import COCOTruth, VOCTruth, add_truth_arguments, load_truth
from cvzoo.cli.truth_metric import as_coco, as_voc
from cvzoo.cli.worst_pictures import worst_pictures
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.analysis.analyze_detections import analyze_table
from cvzoo.evaluations.coco.parameters import CORRECTIONS, COCOParameters
from cvzoo.visualizations.report.detection_report import write_detection_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Scores of a model (--model or --cfg, with --data), or of a results file (--gt and --results): COCO's 12 "
        "numbers or VOC's mAP, and AP by class; for photos with a class each (folder:, cifar10:, cifar100:, mnist:) "
        "accuracies; for label maps (--gt labels:DIR --results DIR, or a model with --data labels:DIR --photos DIR) "
        "mean IoU; for COCO's panoptic files (--gt panoptic:FILE.json --results FILE.json) panoptic quality."
    )
    parser.epilog = "corrections: " + "; ".join(f"{name}: {words}" for name, words in CORRECTIONS.items())
    add_truth_arguments(parser)
    parser.add_argument(
        "--results",
        metavar="FILE",
        help="what somebody's detector found: COCO's results .json, a .csv with a head line, or VOC's comp4_det_*.txt "
        "(one file or their folder)",
    )
    parser.add_argument(
        "--ignore", type=_numbers, default=(255,), metavar="N,N", help="label maps: numbers that do not count (255)"
    )
    add_model_arguments(parser)
    group = parser.add_argument_group("the rules")
    group.add_argument(
        "--metric", choices=("coco", "voc"), help="whose scores of boxes; default: those of the kind of ground truth"
    )
    group.add_argument("--iou-type", choices=("bbox", "segm", "keypoints"), default="bbox", help="what is compared")
    group.add_argument(
        "--corrections",
        type=_words,
        default=(),
        metavar="NAMES",
        help="known traps of pycocotools to correct, with commas between (see below); none: its numbers, bit for bit",
    )
    group.add_argument("--max-dets", type=_numbers, metavar="N,N,N", help="detections of a photo and class: 1,10,100")
    group.add_argument("--drop-unknown-classes", action="store_true", help="drop detections of unknown classes")
    group.add_argument("--use-07-metric", action="store_true", help="VOC: AP at 11 recalls, as until 2009")
    group.add_argument("--iou-thresh", type=float, metavar="T", help="VOC: overlap of a match (0.5)")
    group.add_argument(
        "--plus",
        type=int,
        choices=(0, 1),
        help="VOC: what is added to the sides of boxes for their areas; default: 1 for a VOC folder, else 0",
    )
    group = parser.add_argument_group("the run")
    group.add_argument("--limit", type=_positive, metavar="N", help="the first N photos only")
    group.add_argument(
        "--batch-size", type=_positive, metavar="N", help="photos at a time (default: 1, for classifiers 32)"
    )
    add_compile_argument(group)
    group.add_argument("--quiet", action="store_true", help="no progress and no tables")
    group = parser.add_argument_group("what comes out")
    group.add_argument(
        "--json",
        metavar="FILE",
        help="write the scores: AP AP50 ..., per_class, notes, the analysis; - for standard output alone",
    )
    group.add_argument("--report", metavar="FILE.html", help="write a report, one file without outside parts")
    group.add_argument("--save-results", metavar="FILE", help="write what the model found as COCO's results")
    group.add_argument("--explain", metavar="OTHER.json", help="another scoring of the same results: what differs?")


def run(args: argparse.Namespace) -> int:
    """0. Raises CvzooError or OSError if something cannot be scored: there is no score of a part."""
    has_model = args.model is not None or args.cfg is not None
    if has_model == (args.results is not None):
        raise ConfigError("what is to be scored?", hint="a model (--model or --cfg --weights), or --results FILE")
    if args.compile and not has_model:
        raise ConfigError("--compile is for a model, and --results comes without one")
    for target in (args.json, args.report, args.save_results):
        check_target(target)
    if (args.data or args.gt or "").startswith("labels:"):
        return evaluate_label_maps(args)
    if (args.data or args.gt or "").startswith("panoptic:"):
        return evaluate_panoptic(args)
    if args.ignore != (255,):
        raise ConfigError("--ignore is for label maps")
    if args.save_results is not None and not has_model:
        raise ConfigError("--save-results writes what a model found, and there is none")
    is_of_classes = class_kind(args.data or args.gt or "") is not None
    if args.batch_size is None:
        args.batch_size = 32 if is_of_classes else 1
    if has_model and args.data is None:
        raise ConfigError("a model needs photos", hint="--data coco:FILE.json or --data voc:FOLDER")
    parameters = COCOParameters(
        iou_type=args.iou_type,
        corrections=args.corrections,
        max_dets=args.max_dets,
        accept=("unknown_class",) if args.drop_unknown_classes else (),
    )
    if is_of_classes:
        if (args.data is None) == (args.gt is None):
            raise ConfigError("which ground truth?", hint="--data SPEC to run a model, or --gt SPEC to score --results")
        return evaluate_on_classes(args)
    truth = load_truth(args, parameters, limit=args.limit)
    if (args.metric or ("voc" if isinstance(truth, VOCTruth) else "coco")) == "voc":
        paths = truth.photo_paths(args.photos) if isinstance(truth, COCOTruth) and args.data is not None else None
        scored = evaluate_on_voc(as_voc(truth, paths), args)
    else:
        scored = evaluate_on_coco(as_coco(truth), args, parameters)
    record = dict(scored.record)
    if args.json is not None or args.report is not None:
        record["analysis"] = _analysis(scored)
    if scored.explanation is not None:
        record["explanation"] = scored.explanation.to_dict()
    # files first: who reads our output may close the pipe early
    if args.json not in (None, "-"):
        write_json(record, args.json)
    if args.report is not None:
        pictures = ()
        if scored.instances is not None:
            pictures = worst_pictures(record["analysis"]["worst_photos"], scored.instances.paths)
        about = about_evaluation(args, scored.thresholds)
        write_detection_report(args.report, record, pictures=pictures, about=about)
        print(f"report: {printable(args.report)}", file=sys.stderr)
    if args.json == "-":
        print(as_json(record).decode("utf-8"))
    else:
        _print(scored, quiet=args.quiet)
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


def _analysis(scored: Scored) -> dict[str, Any]:
    each = scored.instances
    if each is None:
        return {"pr_curves": scored.curves}
    analysis = analyze_table(
        each.table(), each.pred_bboxes, each.gt_bboxes, label_names=each.label_names, photos=each.photos
    )
    return analysis | {"pr_curves": scored.curves}


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value
