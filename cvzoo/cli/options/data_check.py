"""`cvzoo data check`: find and name what is wrong with photos and annotations; perhaps write a corrected copy."""

import argparse

from cvzoo.cli.data_options import add_spec_argument
from cvzoo.datasets.doctor.fault import Fault

N_SHOWN = 5  # findings of a kind that are printed without --all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Find and name what is wrong with a data set. The files are read and never changed."
    parser.epilog = (
        "exit status: 0 clean or nothing but notes; 1 errors or warnings were found; 2 nothing there can be used. With "
        "--fix, that of the corrected copy, which is examined again. "
        "kinds: " + ", ".join(kind.slug for kind in Fault)
    )
    add_spec_argument(parser)
    parser.add_argument("--fix", metavar="OUT", help="write a corrected copy with a log to this new folder")
    parser.add_argument("--report", metavar="FILE.html", help="write a report with pictures, one file")
    parser.add_argument("--json", metavar="FILE", help="write all findings; - for standard output")
    parser.add_argument("--ignore", type=_kinds, default=(), metavar="KINDS", help="kinds that do not count, by commas")
    parser.add_argument("--all", action="store_true", help=f"print every finding, not {N_SHOWN} of a kind")
    parser.add_argument("--quiet", action="store_true", help="no progress, and the counts only")


def _kinds(text):
    known = {kind.slug: kind for kind in Fault}
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such kind: {', '.join(unknown)}")
    return tuple(known[word] for word in words)
