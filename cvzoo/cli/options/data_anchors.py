"""`cvzoo data anchors`: suggest a detector's anchors, and say how well the usual ones fit."""

import argparse

from cvzoo.cli.data_options import add_spec_argument
from cvzoo.cli.option_values import positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Suggest sizes and ratios of anchors for a RetinaNet, and say how well they fit the boxes."
    add_spec_argument(parser)
    parser.add_argument("--size", type=positive, default=640, metavar="PIXELS", help="photos' short side (640)")
    parser.add_argument(
        "--max-size", type=positive, metavar="PIXELS", help="the long side at most (5 / 3 of --size, as 1333 of 800)"
    )
    parser.add_argument("--sizes", type=positive, default=3, metavar="N", help="anchors' sizes a level (3)")
    parser.add_argument("--ratios", type=positive, default=3, metavar="N", help="anchors' shapes a size (3)")
    parser.add_argument("--first-level", type=int, choices=(2, 3), default=3, help="finest level (3: stride 8)")
    parser.add_argument("-k", type=positive, default=9, metavar="N", help="groups of shapes to show (9)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="where the groups start from (0)")
    parser.add_argument("--json", metavar="FILE", help="write all that was found; - for standard output")
