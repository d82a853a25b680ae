"""`cvzoo data check`: the doctor of data sets."""

import argparse
import itertools
import json
import os
import pathlib
import shlex
import sys

from cvzoo.cli.check_target import check_target
from cvzoo.cli.data_report import write_data_report
from cvzoo.cli.data_spec_argument import spec_of
from cvzoo.cli.json_records import write_json
from cvzoo.cli.options.data_check import N_SHOWN
from cvzoo.cli.progress import Progress
from cvzoo.cli.result_table import printable
from cvzoo.datasets.doctor.examine_dataset import Checkup, examine_dataset
from cvzoo.datasets.doctor.fault import Severity
from cvzoo.datasets.doctor.write_fixed_dataset import LOG_TEXT, write_fixed_dataset
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.new_folder import check_new
from cvzoo.datasets.layouts.write import check_apart
from cvzoo.reporting.as_time import as_time

_CLEAN, _FINDINGS, _UNUSABLE = 0, 1, 2


def run(args: argparse.Namespace) -> int:
    """0 clean, 1 findings, 2 unusable: the data, or with --fix the corrected copy.

    Raises CvzooError or OSError if there is nothing to examine.
    """
    spec = spec_of(args)
    if args.fix is not None:
        check_apart(spec.path, args.fix)  # told before the long work, not after it
        check_new(args.fix)
    check_target(args.report)
    check_target(args.json)
    checkup = _examine(spec, args)
    status = _status(checkup)
    if args.json == "-":
        print(json.dumps(checkup.to_record()))
    else:
        if args.json is not None:
            write_json(checkup.to_record(), args.json)
        shown = 0 if args.quiet else None if args.all else N_SHOWN
        print(check_text(checkup, shown=shown, suggest=args.fix is None and not args.quiet))
    if args.report is not None:
        write_data_report(args.report, checkup)
        print(f"report: {printable(args.report)}", file=sys.stderr)
    return status if args.fix is None or status == _UNUSABLE else _fix(checkup, args)


def _fix(checkup, args):
    """Write the corrected copy and examine it: the copy's status."""
    progress = Progress(None if args.quiet else sys.stderr, total=len(checkup.annotated.photos))
    try:
        fixed = write_fixed_dataset(checkup, args.fix, step=progress.step)
    finally:
        progress.clear()
    n = len(fixed.changes)
    words = f"{n} {'change' if n == 1 else 'changes'}, {len(fixed.annotated.photos)} photos"
    print(f"corrected copy: {printable(args.fix)} ({words}; see {LOG_TEXT})", file=sys.stderr)
    copy = DataSpec(checkup.spec.kind, pathlib.Path(args.fix), base=checkup.spec.base)
    again = _examine(copy, args)
    left = ", ".join(f"{kind.slug} ({n})" for kind, n in again.counts().items() if kind.severity is not Severity.NOTE)
    print(f"examined again: {f'what only a person can decide is left: {left}' if left else 'whole'}", file=sys.stderr)
    return _status(again)


def check_text(checkup: Checkup, *, shown: int | None, suggest: bool = True) -> str:
    """The findings for a terminal.

    shown: how many of a kind at most, None for all; suggest: end with the command that writes a corrected copy, if
    that would change anything
    """
    record = checkup.to_record()
    lines = [f"{printable(record['data'])}: {record['photos']} photos, {record['objects']} objects"]
    for kind, n in checkup.counts().items():
        lines.append(f"\n{kind.severity.value}: {kind.slug} ({n}): {kind.meaning}")
        found = [each for each in checkup.findings if each.kind is kind]
        for each in found if shown is None else found[:shown]:
            lines.append(f"  {printable(each.where)}: {printable(each.message)}")
        if shown and n > shown:
            lines.append(f"  and {n - shown} more")
        if shown != 0 and kind.fix is not None:
            lines.append(f"  --fix: {kind.fix}")
    severities = [each.severity for each in checkup.findings]
    counts = [
        f"{n} {severity.value}{'' if n == 1 else 's'}" for severity in Severity if (n := severities.count(severity))
    ]
    lines.append(("\n" if checkup.findings else "") + (", ".join(counts) or "no faults were found"))
    if suggest and any(kind.fix is not None for kind in checkup.counts()):
        lines.append(f"a corrected copy: {printable(fix_command(checkup.spec))}")
    return "\n".join(lines)


def fix_command(spec: DataSpec) -> str:
    """The line for a shell that writes a corrected copy, to a folder beside the data that does not exist yet."""
    root = spec.path if spec.path.is_dir() else spec.path.parent
    if root.name == "annotations" and not spec.path.is_dir():
        root = root.parent
    name = root.name or root.resolve().name or "data"
    above = root.parent if root.name else pathlib.Path("..")
    if not os.access(above, os.W_OK):
        above = pathlib.Path()
    places = (above / f"{name}_fixed{n if n > 1 else ''}" for n in itertools.count(1))
    out = next(each for each in places if not each.exists())
    return f"cvzoo data check {shlex.quote(spec.text)} --fix {shlex.quote(str(out))}"


def _examine(spec, args):
    holder = []

    def start(total):
        holder.append(Progress(None if args.quiet else sys.stderr, total=total))

    try:
        checkup = examine_dataset(spec, ignore=args.ignore, start=start, step=lambda: holder[0].step())
    finally:
        for progress in holder:
            progress.clear()
    if not args.quiet and holder[0].n_done > 1:
        print(f"{holder[0].text()}, {as_time(holder[0].elapsed)} in all", file=sys.stderr)
    return checkup


def _status(checkup):
    if not any(facts is not None and facts.trouble is None for facts in checkup.facts):
        return _UNUSABLE
    return _CLEAN if checkup.is_clean else _FINDINGS
