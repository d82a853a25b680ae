"""`cvzoo evaluate`: score a model on annotated photos, or anybody's results file."""

import argparse

from cvzoo.cli.data_options import add_truth_arguments
from cvzoo.cli.model_options import add_compile_argument, add_model_arguments
from cvzoo.cli.option_values import integers, positive, words
from cvzoo.evaluations.coco.parameters import CORRECTIONS


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
        "--ignore", type=integers, default=(255,), metavar="N,N", help="label maps: numbers that do not count (255)"
    )
    add_model_arguments(parser)
    group = parser.add_argument_group("the rules")
    group.add_argument(
        "--metric", choices=("coco", "voc"), help="whose scores of boxes; default: those of the kind of ground truth"
    )
    group.add_argument("--iou-type", choices=("bbox", "segm", "keypoints"), default="bbox", help="what is compared")
    group.add_argument(
        "--corrections",
        type=words,
        default=(),
        metavar="NAMES",
        help="known traps of pycocotools to correct, with commas between (see below); none: its numbers, bit for bit",
    )
    group.add_argument("--max-dets", type=integers, metavar="N,N,N", help="detections of a photo and class: 1,10,100")
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
    group.add_argument("--limit", type=positive, metavar="N", help="the first N photos only")
    group.add_argument(
        "--batch-size", type=positive, metavar="N", help="photos at a time (default: 1, for classifiers 32)"
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
