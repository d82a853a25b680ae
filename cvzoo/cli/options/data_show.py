"""`cvzoo data show`: draw photos with their boxes, masks and points into one picture."""

import argparse

from cvzoo.cli.data_options import add_spec_argument
from cvzoo.cli.option_values import positive, words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Draw photos with their boxes, masks and points into one picture, to see what is in a data set."
    )
    parser.epilog = "exit status: 0 done; 1 done, but some photos could not be read"
    add_spec_argument(parser)
    parser.add_argument("out", metavar="OUT.png", help="the picture: .png .jpg .webp or .bmp")
    parser.add_argument("-n", type=positive, default=16, metavar="N", help="how many photos (16)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which photos are drawn by lot (0)")
    parser.add_argument("--first", action="store_true", help="the first N, not N drawn by lot")
    parser.add_argument("--classes", type=words, default=(), metavar="NAMES", help="photos with these classes only")
    parser.add_argument("--names", type=words, default=(), metavar="NAMES", help="these photos, by commas")
    parser.add_argument("--columns", type=positive, metavar="N", help="photos in a row")
    parser.add_argument("--side", type=positive, default=320, metavar="PIXELS", help="a photo's longer side (320)")
    for what in ("boxes", "masks", "points"):
        parser.add_argument(f"--no-{what}", action="store_true", help=f"without {what}")
    parser.add_argument("--quiet", action="store_true", help="no progress")
