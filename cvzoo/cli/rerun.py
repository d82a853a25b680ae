"""`cvzoo rerun`: repeats a training run and compares the results."""

import argparse
import sys

from cvzoo.training.run.rerun import rerun


def run(args: argparse.Namespace) -> int:
    """Returns 0 for identical results, 1 for differences, 2 if the run failed. Raises CvzooError or OSError."""
    out = args.out if args.out is not None else args.folder.rstrip("/\\") + "-again"
    done = rerun(args.folder, out)
    if done.status:
        print(f"cvzoo rerun: the repetition ended with status {done.status}", file=sys.stderr)
        return 2
    print(f"{done.folder}: " + ("the same to the bit" if not done.notes else "differs"))
    for note in done.notes:
        print(f"  {note}")
    return 1 if done.notes else 0
