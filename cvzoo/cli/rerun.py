"""`cvzoo rerun`: repeats a training run and compares the results."""

import argparse
import sys

from cvzoo.training.run.rerun import compare_runs, rerun


def run(args: argparse.Namespace) -> int:
    """Returns 0 for identical results, 1 for differences, 2 if the run failed. Raises CvzooError or OSError."""
    out = args.out if args.out is not None else args.folder.rstrip("/\\") + "-again"
    if args.compare:
        return _told(out, compare_runs(args.folder, out))
    done = rerun(args.folder, out)
    if done.status:
        print(f"cvzoo rerun: the repetition ended with status {done.status}", file=sys.stderr)
        return 2
    return _told(done.folder, done.notes)


def _told(folder: str, notes: tuple[str, ...]) -> int:
    print(f"{folder}: " + ("the same to the bit" if not notes else "differs"))
    for note in notes:
        print(f"  {note}")
    return 1 if notes else 0
