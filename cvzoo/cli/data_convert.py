"""`cvzoo data convert`: a data set in another layout."""

import argparse
import os
import sys

from cvzoo.cli.data_spec_argument import add_spec_argument, spec_of
from cvzoo.cli.progress import Progress
from cvzoo.cli.result_table import printable
from cvzoo.datasets.convert.convert_dataset import LOG, TARGETS, convert_dataset
from cvzoo.datasets.convert.losses import CROWDS


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


def run(args: argparse.Namespace) -> int:
    """0, or 1 if something could not be understood. Raises CvzooError or OSError if nothing could be written."""
    progress: list[Progress] = []

    def start(total):
        progress.append(Progress(None if args.quiet else sys.stderr, total=total))

    try:
        done = convert_dataset(
            spec_of(args),
            args.out,
            kind=args.to,
            keep_crowds=args.keep_crowds,
            keep_polygons=not args.no_polygons,
            start=start,
            step=lambda: progress[0].step(),
        )
    finally:
        for each in progress:
            each.clear()
    n_crowd = sum(loss.count for loss in done.losses if loss.what == CROWDS)
    left_out = f"; {n_crowd} crowds left out (--keep-crowds keeps them)" if n_crowd else ""
    print(f"{printable(args.out)}: {done.n_photo} photos, {done.n_object} objects as {args.to}{left_out}")
    if not args.quiet:
        if done.losses:
            print(f"{args.to} cannot carry, and the copy lacks:")
        for loss in done.losses:
            print(f"  {printable(str(loss))}")
    if done.findings:
        log = printable(os.path.join(args.out, LOG))
        n = len(done.findings)
        print(
            f"cvzoo data convert: {n} things were odd or not understood, see {log} and cvzoo data check",
            file=sys.stderr,
        )
        return 1
    return 0
