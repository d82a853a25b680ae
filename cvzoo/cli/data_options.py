"""Options that name a data set, and what is to be found in it."""

import argparse

from cvzoo.datasets.layouts.data_spec import SPEC_HELP

OUTSIDE_HELP = "use photos that lie outside of the data set's folder, by their names in the annotations or by links"


def add_spec_argument(parser: argparse.ArgumentParser) -> None:
    """SPEC, and `--allow-outside`."""
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument("--allow-outside", action="store_true", help=OUTSIDE_HELP)


def add_truth_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say what is to be found, and where the photos are."""
    group = parser.add_argument_group("the ground truth")
    group.add_argument(
        "--data",
        metavar="SPEC",
        help="coco:ROOT/annotations/instances_val2017.json or voc:ROOT, with the photos; folder:ROOT with a folder a "
        "class, cifar10:DIR, cifar100:DIR or mnist:DIR",
    )
    group.add_argument(
        "--gt",
        metavar="FILE",
        help="the same without photos: a COCO .json, the folder of a VOC, labels:DIR or panoptic:FILE.json",
    )
    group.add_argument("--photos", metavar="DIR", help="where COCO's photos are (default: ROOT/val2017 and its like)")
    group.add_argument("--allow-outside", action="store_true", help=OUTSIDE_HELP)
    group.add_argument(
        "--split",
        metavar="NAME",
        help="of a VOC folder: the list ImageSets/Main/NAME.txt; default: all; of CIFAR, MNIST: default: test",
    )
