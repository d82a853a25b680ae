"""`cvzoo data show`: draw images of a data set with their boxes, masks and keypoints in a grid."""

import argparse

from cvzoo.cli.data_options import add_spec_argument
from cvzoo.cli.option_values import positive, words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Draws images with their annotations (boxes, masks, keypoints) in a grid, to inspect a data set visually."
    )
    parser.epilog = "exit status: 0 done; 1 done, but some images could not be read"
    add_spec_argument(parser)
    parser.add_argument("out", metavar="OUT.png", help="the image file to write: .png .jpg .webp or .bmp")
    parser.add_argument("-n", type=positive, default=16, metavar="N", help="number of images (16)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed of the selection (0)")
    parser.add_argument("--first", action="store_true", help="the first N images instead of N at random")
    parser.add_argument("--classes", type=words, default=(), metavar="NAMES", help="only images with these classes")
    parser.add_argument("--names", type=words, default=(), metavar="NAMES", help="these images, comma-separated")
    parser.add_argument("--columns", type=positive, metavar="N", help="images per row")
    parser.add_argument("--side", type=positive, default=320, metavar="PIXELS", help="longer side of an image (320)")
    for what in ("boxes", "masks", "points"):
        parser.add_argument(f"--no-{what}", action="store_true", help=f"without {what}")
    parser.add_argument("--quiet", action="store_true", help="no progress")
