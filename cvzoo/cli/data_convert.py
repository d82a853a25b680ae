"""`cvzoo data convert`: a data set in another layout."""

import argparse
import os
import sys

from cvzoo.cli.data_spec_argument import spec_of
from cvzoo.cli.progress import Progress
from cvzoo.cli.result_table import printable
from cvzoo.datasets.convert.convert_dataset import LOG, convert_dataset
from cvzoo.datasets.convert.losses import CROWDS
from cvzoo.reporting.counted import counted


def run(args: argparse.Namespace) -> int:
    """0, or 1 if something could not be understood. Raises CvzooError or OSError if nothing could be written."""
    progress: list[Progress] = []

    def start(total: int) -> None:
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
    left_out = f"; {counted(n_crowd, 'crowd')} dropped (--keep-crowds keeps them)" if n_crowd else ""
    counts = f"{counted(done.n_image, 'image')}, {counted(done.n_object, 'object')}"
    print(f"{printable(args.out)}: {counts} as {args.to}{left_out}")
    if not args.quiet:
        if done.losses:
            print(f"{args.to} cannot represent, so the copy lacks:")
        for loss in done.losses:
            print(f"  {printable(str(loss))}")
    if done.findings:
        log = printable(os.path.join(args.out, LOG))
        n = len(done.findings)
        print(
            f"cvzoo data convert: {counted(n, 'record was', 'records were')} malformed, see {log} and cvzoo data check",
            file=sys.stderr,
        )
        return 1
    return 0
