"""`cvzoo data check`: find faults of images and annotations; optionally write a corrected copy."""

import argparse

from cvzoo.cli.data_options import add_spec_argument
from cvzoo.datasets.doctor.fault import Fault

N_SHOWN = 5  # findings of a kind that are printed without --all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Finds faults of a data set: corrupt images, duplicates and near-duplicates, leaks between splits, malformed "
        "annotations, implausible boxes, masks, keypoints and classes. The files are not changed."
    )
    parser.epilog = (
        "exit status: 0 clean or only notes; 1 errors or warnings; 2 nothing is usable. With --fix, that of the "
        "corrected copy, which is checked again. "
        "kinds: " + ", ".join(kind.slug for kind in Fault)
    )
    add_spec_argument(parser)
    parser.add_argument("--fix", metavar="OUT", help="write a corrected copy with a log to this new folder")
    parser.add_argument("--report", metavar="FILE.html", help="write an HTML report with images, in one file")
    parser.add_argument("--json", metavar="FILE", help="write all findings; - for standard output")
    parser.add_argument("--ignore", type=_kinds, default=(), metavar="KINDS", help="kinds to ignore, comma-separated")
    parser.add_argument("--all", action="store_true", help=f"print all findings, not only {N_SHOWN} per kind")
    parser.add_argument("--quiet", action="store_true", help="no progress, and only counts")


def _kinds(text: str) -> tuple[Fault, ...]:
    known = {kind.slug: kind for kind in Fault}
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown kinds of faults: {', '.join(unknown)}")
    return tuple(known[word] for word in words)
