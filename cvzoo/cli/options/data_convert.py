"""`cvzoo data convert`: convert a data set to another layout: VOC, COCO or YOLO."""

import argparse

from cvzoo.cli.data_options import add_spec_argument
from cvzoo.datasets.layouts.data_spec import TARGETS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Converts a copy of a data set to another layout. Boxes, classes and their order, names, sizes and splits are "
        "preserved exactly; what the layout cannot represent is listed."
    )
    parser.epilog = "exit status: 0 done; 1 done, but malformed records were dropped"
    add_spec_argument(parser)
    parser.add_argument("out", metavar="OUT", help="a new folder")
    parser.add_argument("--to", required=True, choices=TARGETS, help="the layout to convert to")
    parser.add_argument(
        "--keep-crowds",
        action="store_true",
        help="convert crowds (iscrowd) to ordinary objects in YOLO, to difficult ones in VOC; default: drop them there",
    )
    parser.add_argument("--no-polygons", action="store_true", help="YOLO: write boxes only, not the segment format")
    parser.add_argument("--quiet", action="store_true", help="no progress and no list")
