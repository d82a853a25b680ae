"""Options that specify a data set or ground truth."""

import argparse

from cvzoo.cli.option_values import positive_float
from cvzoo.datasets.layouts.data_spec import SPEC_HELP
from cvzoo.evaluations.coco.parameters import MEAN_OKS_SIGMA

OUTSIDE_HELP = "allow images outside of the data set's folder, by their names in the annotations or by links"


def add_spec_argument(parser: argparse.ArgumentParser) -> None:
    """Adds SPEC and `--allow-outside`."""
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument("--allow-outside", action="store_true", help=OUTSIDE_HELP)


def add_iou_arguments(group: argparse._ArgumentGroup) -> None:
    """Adds what detections are matched by."""
    group.add_argument("--iou-type", choices=("bbox", "segm", "keypoints"), default="bbox", help="what to compare")
    group.add_argument(
        "--oks-sigma",
        type=positive_float,
        metavar="S",
        help=f"one sigma for all keypoints; default: those of COCO's 17 keypoints, {MEAN_OKS_SIGMA} for others",
    )


def add_truth_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that specify the ground truth and its images."""
    group = parser.add_argument_group("the ground truth")
    group.add_argument(
        "--data",
        metavar="SPEC",
        help="coco:FILE.json, coco:ROOT, voc:ROOT or yolo:ROOT, with images; folder:ROOT with one "
        "folder per class, cifar10:DIR, cifar100:DIR or mnist:DIR; camvid:ROOT, cityscapes:ROOT, ade20k:ROOT, "
        "folder:ROOT with images/val, labels/val and classes.txt, or labels:DIR",
    )
    group.add_argument(
        "--gt",
        metavar="FILE",
        help="ground truth without images: a COCO .json, the folder of a VOC, labels:DIR or panoptic:FILE.json",
    )
    group.add_argument(
        "--images",
        "--photos",
        dest="photos",
        metavar="DIR",
        help="the folder of COCO's images (default: ROOT/val2017 or similar)",
    )
    group.add_argument("--allow-outside", action="store_true", help=OUTSIDE_HELP)
    group.add_argument(
        "--split",
        metavar="NAME",
        help="VOC: the list ImageSets/Main/NAME.txt; default: all images; coco:ROOT: the file instances_NAME.json; "
        "CIFAR, MNIST: default: test; label maps: default: val",
    )
