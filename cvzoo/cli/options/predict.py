"""`cvzoo predict`: say what photos show: objects, masks, classes."""

import argparse

from cvzoo.cli.model_options import add_compile_argument, add_model_arguments
from cvzoo.cli.option_values import positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "What a model says of photos: prints a table, and with --out writes pictures and JSON."
    parser.epilog = (
        "exit status: 0 all photos done; 1 some could not be used (they are listed at the end); 2 cannot run; "
        "130 interrupted, and what was finished is whole"
    )
    parser.add_argument(
        "photos",
        nargs="+",
        metavar="PHOTO",
        help="a file, a folder, a glob in quotes ('photos/**/*.jpg'), an http(s) address, a video, the number of a "
        "camera (until Ctrl-C), or - for a list of them on standard input",
    )
    parser.add_argument(
        "--frame-step", type=positive, default=1, metavar="N", help="of a video every Nth frame (default: 1, all)"
    )
    add_model_arguments(parser)
    group = parser.add_argument_group("the results")
    group.add_argument(
        "--out", metavar="DIR", help="write a .json for each photo, a picture of what was found, and results.jsonl"
    )
    group.add_argument("--no-draw", action="store_true", help="no pictures, only JSON")
    group.add_argument(
        "--json-lines", metavar="FILE", help="all results, a line a photo, to this file; - for standard output"
    )
    group.add_argument("--batch-size", type=positive, default=1, metavar="N", help="photos at a time (default: 1)")
    add_compile_argument(group)
    group.add_argument("--quiet", action="store_true", help="no table and no progress, only what went wrong")
