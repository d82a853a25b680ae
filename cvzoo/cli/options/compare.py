"""`cvzoo compare`: compare two models, or two results files, on the same images."""

import argparse

from cvzoo.cli.data_options import add_iou_arguments, add_truth_arguments
from cvzoo.cli.model_options import add_architecture_argument, add_device_argument, add_inference_arguments
from cvzoo.cli.option_values import integers, positive, words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Evaluates two models or two sets of results (or one of each) on the same data, as `cvzoo evaluate` does, and "
        "says which differences are larger than chance: confidence intervals by resampling the images (paired "
        "bootstrap), a table by class, and the images that changed most. Detection, instance segmentation, keypoints, "
        "image classification, semantic and panoptic segmentation."
    )
    for name in ("a", "b"):
        parser.add_argument(
            name,
            metavar=name.upper(),
            help="a model of `cvzoo models`, a model FILE.safetensors, or results as for `cvzoo evaluate --results`",
        )
    add_truth_arguments(parser)
    parser.add_argument(
        "--ignore", type=integers, default=(255,), metavar="N,N", help="label maps: labels to ignore (255)"
    )
    parser.add_argument("--names", metavar="FILE", help="labels:DIR: class names, one per line; default: numbers")
    group = parser.add_argument_group("the metric")
    group.add_argument(
        "--metric",
        choices=("coco", "voc", "miou"),
        help="COCO's or VOC's metrics; default: those of the ground truth's layout; miou: the label maps of voc:ROOT",
    )
    add_iou_arguments(group)
    group.add_argument("--corrections", type=words, default=(), metavar="NAMES", help="as for `cvzoo evaluate`")
    group.add_argument("--drop-unknown-classes", action="store_true", help="drop detections of unknown classes")
    group.add_argument("--use-07-metric", action="store_true", help="VOC: 11-point interpolated AP, as until 2009")
    group.add_argument("--iou-thresh", type=float, metavar="T", help="VOC: minimal IoU of a match (0.5)")
    group = parser.add_argument_group("resampling")
    group.add_argument("--resamples", type=positive, default=1000, metavar="N", help="number of resamples (1000)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the resamples (0)")
    group.add_argument("--confidence", type=float, default=0.95, metavar="P", help="of the intervals (0.95)")
    group = parser.add_argument_group("inference")
    group.add_argument("--limit", type=positive, metavar="N", help="only the first N images")
    group.add_argument("--batch-size", type=positive, metavar="N", help="images per batch")
    add_architecture_argument(group)
    add_device_argument(group)
    add_inference_arguments(group)
    group.add_argument("--quiet", action="store_true", help="no progress and no table of classes")
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="write all numbers; - for standard output only")
    group.add_argument("--report", metavar="FILE.html", help="write a self-contained HTML report with pictures")
    group.add_argument("--worst", type=positive, default=8, metavar="N", help="images of each direction to list (8)")
