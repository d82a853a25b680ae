"""`cvzoo data anchors`: suggest anchors of a detector for a data set, and compare them with the default ones."""

import argparse

from cvzoo.cli.data_options import add_spec_argument
from cvzoo.cli.option_values import positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Suggests sizes and aspect ratios of anchors for RetinaNet from the boxes of a data set, and reports the "
        "recall (fraction of boxes with an anchor of IoU >= 0.5) of these and of the default anchors."
    )
    add_spec_argument(parser)
    parser.add_argument("--size", type=positive, default=640, metavar="PIXELS", help="short side of images (640)")
    parser.add_argument(
        "--max-size", type=positive, metavar="PIXELS", help="maximal long side (5 / 3 of --size, as 1333 of 800)"
    )
    parser.add_argument("--sizes", type=positive, default=3, metavar="N", help="anchor sizes per pyramid level (3)")
    parser.add_argument("--ratios", type=positive, default=3, metavar="N", help="aspect ratios per size (3)")
    parser.add_argument("--first-level", type=int, choices=(2, 3), default=3, help="finest level (3: stride 8)")
    parser.add_argument("-k", type=positive, default=9, metavar="N", help="number of clusters of shapes to show (9)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed of the clustering (0)")
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON; - for standard output")
