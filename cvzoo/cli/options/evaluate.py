"""`cvzoo evaluate`: evaluate a model on annotated images, or a results file."""

import argparse

from cvzoo.cli.data_options import add_iou_arguments, add_truth_arguments
from cvzoo.cli.model_options import add_inference_arguments, add_model_arguments
from cvzoo.cli.option_values import integers, positive, threshold_rule, words
from cvzoo.evaluations.coco.parameters import CORRECTIONS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Evaluates a model (--model or --cfg, with --data) or a results file (--gt and --results). Object detection, "
        "instance segmentation and keypoints (coco:, voc:, yolo:, sbd:, lvis: ...): COCO's 12 metrics, VOC's mAP or "
        "LVIS' AP, and AP per class; image classification (folder:, cifar10:, cifar100:, mnist:): accuracies, F1, AUC; "
        "semantic segmentation (camvid:, cityscapes:, ade20k:, labels:DIR, folder: with label maps, or voc: with "
        "--metric miou): mean IoU; panoptic segmentation (--gt panoptic:FILE.json --results FILE.json): quality."
    )
    parser.epilog = "corrections: " + "; ".join(f"{name}: {words}" for name, words in CORRECTIONS.items())
    add_truth_arguments(parser)
    parser.add_argument(
        "--results",
        metavar="FILE",
        help="predictions of any detector: COCO's results .json, a .csv with a header, or a folder of VOC's "
        "comp4_det_*.txt or of YOLO's text files",
    )
    parser.add_argument(
        "--ignore", type=integers, default=(255,), metavar="N,N", help="label maps: labels to ignore (255)"
    )
    add_model_arguments(parser)
    group = parser.add_argument_group("the metric")
    group.add_argument(
        "--metric",
        choices=("coco", "voc", "miou"),
        help="COCO's or VOC's metrics; default: those of the ground truth's layout; miou: the label maps of voc:ROOT",
    )
    add_iou_arguments(group)
    group.add_argument(
        "--corrections",
        type=words,
        default=(),
        metavar="NAMES",
        help="known defects of pycocotools to correct, comma-separated (see below); none: its scores, bit for bit",
    )
    group.add_argument("--max-dets", type=integers, metavar="N,N,N", help="detections per image and class: 1,10,100")
    group.add_argument("--drop-unknown-classes", action="store_true", help="drop detections of unknown classes")
    group.add_argument("--use-07-metric", action="store_true", help="VOC: 11-point interpolated AP, as until 2009")
    group.add_argument("--iou-thresh", type=float, metavar="T", help="VOC: minimal IoU of a match (0.5)")
    group.add_argument(
        "--plus",
        type=int,
        choices=(0, 1),
        help="VOC: added to width and height of boxes for their areas; default: 1 for a VOC folder, else 0",
    )
    group = parser.add_argument_group("inference")
    group.add_argument("--limit", type=positive, metavar="N", help="only the first N images")
    group.add_argument(
        "--batch-size", type=positive, metavar="N", help="images per batch (default: 1, for classifiers 32)"
    )
    add_inference_arguments(group)
    group.add_argument("--quiet", action="store_true", help="no progress and no tables")
    group = parser.add_argument_group("thresholds")
    group.add_argument(
        "--find-thresholds",
        type=threshold_rule,
        metavar="f1|precision=P",
        help="find the score threshold of each class with the best F1, or with the highest recall at precision P",
    )
    group.add_argument(
        "--save-model",
        metavar="FILE.safetensors",
        help='save the model with these thresholds as its preset "deploy" (`cvzoo predict --score deploy`)',
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "--json",
        metavar="FILE",
        help="write the scores: AP AP50 ..., per_class, notes, the analysis; - for standard output only",
    )
    group.add_argument("--report", metavar="FILE.html", help="write a self-contained HTML report")
    group.add_argument(
        "--verdicts",
        metavar="FILE.jsonl",
        help="write what went wrong in each image: objects missed, detections of a wrong class, misplaced, duplicate "
        "or of the background; of a classifier its wrong predictions; of label maps the mean IoU",
    )
    group.add_argument(
        "--save-results",
        metavar="FILE",
        help="write the model's predictions as COCO's results; label maps: as PNG files in a new folder",
    )
    group.add_argument(
        "--save-format",
        choices=("coco", "voc", "yolo", "csv"),
        help="format of the saved detections; default: that of the name: .json is "
        "COCO's, .csv, a folder VOC's; yolo: text files in a folder",
    )
    group.add_argument("--explain", metavar="OTHER.json", help="explain differences to other scores of these results")
