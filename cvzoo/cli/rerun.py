"""`cvzoo rerun`: a training once more."""

import argparse
import sys

from cvzoo.training.run.rerun import rerun


def run(args: argparse.Namespace) -> int:
    """0 the same, 1 differences, 2 the repetition failed. Raises CvzooError or OSError if there is none to repeat."""
    out = args.out if args.out is not None else args.folder.rstrip("/\\") + "-again"
    done = rerun(args.folder, out)
    if done.status:
        print(f"cvzoo rerun: the repetition ended with status {done.status}", file=sys.stderr)
        return 2
    print(f"{done.folder}: " + ("the same to the bit" if not done.notes else "differs"))
    for note in done.notes:
        print(f"  {note}")
    return 1 if done.notes else 0
