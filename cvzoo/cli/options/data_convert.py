"""`cvzoo data convert`: copy a data set into another layout: VOC, COCO or YOLO."""

import argparse

from cvzoo.cli.data_options import add_spec_argument
from cvzoo.datasets.layouts.data_spec import TARGETS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Copy a data set into another layout: boxes, classes and their order, names, sizes and lists exactly. What the "
        "layout cannot carry is listed."
    )
    parser.epilog = "exit status: 0 done; 1 done, but records that could not be understood were left out"
    add_spec_argument(parser)
    parser.add_argument("out", metavar="OUT", help="a new folder")
    parser.add_argument("--to", required=True, choices=TARGETS, help="the layout")
    parser.add_argument(
        "--keep-crowds",
        action="store_true",
        help="crowds (iscrowd) become ordinary objects in YOLO, difficult ones in VOC; else they are left out there",
    )
    parser.add_argument("--no-polygons", action="store_true", help="YOLO: boxes only, not the segment format")
    parser.add_argument("--quiet", action="store_true", help="no progress and no list")
