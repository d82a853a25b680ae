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
from cvzoo.reporting.counted import counted

_CLEAN, _FINDINGS, _UNUSABLE = 0, 1, 2


def run(args: argparse.Namespace) -> int:
    """Returns 0 for clean data, 1 with findings, 2 if unusable; with --fix that of the corrected copy.

    Raises CvzooError or OSError if there is nothing to examine.
    """
    spec = spec_of(args)
    if args.fix is not None:
        check_apart(spec.path, args.fix)  # before the long work
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


def _fix(checkup: Checkup, args: argparse.Namespace) -> int:
    """Writes the corrected copy, checks it and returns its status."""
    progress = Progress(None if args.quiet else sys.stderr, total=len(checkup.annotated.images))
    try:
        fixed = write_fixed_dataset(checkup, args.fix, step=progress.step)
    finally:
        progress.clear()
    n = len(fixed.changes)
    words = f"{counted(n, 'change')}, {counted(len(fixed.annotated.images), 'image')}"
    print(f"corrected copy: {printable(args.fix)} ({words}; see {LOG_TEXT})", file=sys.stderr)
    copy = DataSpec(checkup.spec.kind, pathlib.Path(args.fix), base=checkup.spec.base)
    again = _examine(copy, args)
    left = ", ".join(f"{kind.slug} ({n})" for kind, n in again.counts().items() if kind.severity is not Severity.NOTE)
    print(f"checked again: {f'to be decided by you: {left}' if left else 'no faults left'}", file=sys.stderr)
    return _status(again)


def check_text(checkup: Checkup, *, shown: int | None, suggest: bool = True) -> str:
    """The findings as text for a terminal.

    shown: maximal number per kind, None for all; suggest: end with the command that writes a corrected copy, if that
    would change anything
    """
    record = checkup.to_record()
    lines = [
        f"{printable(record['data'])}: {counted(record['photos'], 'image')}, {counted(record['objects'], 'object')}"
    ]
    for kind, n in checkup.counts().items():
        lines.append(f"\n{kind.severity.value}: {kind.slug} ({n}): {kind.meaning}")
        findings = [each for each in checkup.findings if each.kind is kind]
        for each in findings if shown is None else findings[:shown]:
            lines.append(f"  {printable(each.where)}: {printable(each.message)}")
        if shown and n > shown:
            lines.append(f"  and {n - shown} more")
        if shown != 0 and kind.fix is not None:
            lines.append(f"  --fix: {kind.fix}")
    severities = [each.severity for each in checkup.findings]
    counts = [counted(n, severity.value) for severity in Severity if (n := severities.count(severity))]
    lines.append(("\n" if checkup.findings else "") + (", ".join(counts) or "no faults were found"))
    if suggest and any(kind.fix is not None for kind in checkup.counts()):
        lines.append(f"a corrected copy: {printable(fix_command(checkup.spec))}")
    return "\n".join(lines)


def fix_command(spec: DataSpec) -> str:
    """The shell command that writes a corrected copy, to a new folder next to the data."""
    root = spec.path if spec.path.is_dir() else spec.path.parent
    if root.name == "annotations" and not spec.path.is_dir():
        root = root.parent
    name = root.name or root.resolve().name or "data"
    above = root.parent if root.name else pathlib.Path("..")
    if not os.access(above, os.W_OK):
        above = pathlib.Path()
    paths = (above / f"{name}_fixed{n if n > 1 else ''}" for n in itertools.count(1))
    out = next(each for each in paths if not each.exists())
    return f"cvzoo data check {shlex.quote(spec.text)} --fix {shlex.quote(str(out))}"


def _examine(spec: DataSpec, args: argparse.Namespace) -> Checkup:
    holder: list[Progress] = []

    def start(total: int) -> None:
        holder.append(Progress(None if args.quiet else sys.stderr, total=total))

    try:
        checkup = examine_dataset(spec, ignore=args.ignore, start=start, step=lambda: holder[0].step())
    finally:
        for progress in holder:
            progress.clear()
    if not args.quiet and holder[0].n_done > 1:
        print(f"{holder[0].text()}, {as_time(holder[0].elapsed)} in all", file=sys.stderr)
    return checkup


def _status(checkup: Checkup) -> int:
    if not any(facts is not None and facts.trouble is None for facts in checkup.facts):
        return _UNUSABLE
    return _CLEAN if checkup.is_clean else _FINDINGS
