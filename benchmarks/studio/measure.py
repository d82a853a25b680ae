"""Measures the studio on loopback, and compares with the targets in `table.py`.

    python benchmarks/studio/make_sets.py images SETS/images --real ../shared/data --n 100000
    python benchmarks/studio/make_sets.py runs SETS/runs --n 1000
    python benchmarks/studio/make_sets.py long SETS/long/run --n 1000000
    python benchmarks/studio/measure.py runs explorer ... --sets SETS --home HOME --out results/FILE.json

Groups are measured in the order that is given, each with a server of its own on HOME, which keeps the imported set for
later calls; the results file keeps the rows of other groups. Times are those that a client on the same cores sees, one
request after the other unless the row says more. Without groups the table of the results file is printed.
"""

import argparse
import json
import os
import pathlib
import sys
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from canvas import canvas
from of_data import edit, explorer, import_set, thumbnails, versions
from of_runs import curves, queue, runs, soak, start, streams
from side_by_side import machine
from table import TARGETS, Rows, print_table

GROUPS: dict[str, Callable[[argparse.Namespace], Rows]] = {
    "start": start,
    "import": import_set,
    "explorer": explorer,
    "edit": edit,
    "versions": versions,
    "thumbnails": thumbnails,
    "runs": runs,
    "streams": streams,
    "curves": curves,
    "canvas": canvas,
    "queue": queue,
    "soak": soak,
}


def main() -> None:
    """Measures the groups and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--sets", type=pathlib.Path, required=True, help="folder of images, runs and long")
    parser.add_argument("--home", type=pathlib.Path, required=True, help="folder of the studio; kept")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--n", type=int, default=200, help="requests of a row")
    parser.add_argument("--seconds", type=float, default=20, help="length of streams and soak")
    parser.add_argument("--rate", type=float, default=1, help="events a second of soak; a day of one has 86,400")
    args = parser.parse_args()
    known = json.loads(args.out.read_text()) if args.out.is_file() else {"title": "the studio", "rows": []}
    for name in args.groups:
        busy = os.getloadavg()[0]
        found = [each | {"load_before": round(busy, 1)} for each in GROUPS[name](args)]
        print_table(found)
        names = {each["row"] for each in found}
        known["rows"] = [each for each in known["rows"] if each["row"] not in names] + found
        known["machine"] = machine()
        args.out.write_text(json.dumps(known, indent=1) + "\n")
    if not args.groups:
        order = list(TARGETS)
        print_table(sorted(known["rows"], key=lambda each: order.index(each["row"])))


if __name__ == "__main__":
    main()
