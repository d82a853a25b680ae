"""`cvzoo models`: the models of the zoo; `cvzoo models info NAME`: source and license."""

import argparse
import json
import sys

from cvzoo.cli.options.models import TASKS
from cvzoo.cli.result_table import printable
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.links.model.families import zoo_members
from cvzoo.links.model.zoo_member import ZooMember
from cvzoo.weights.cache import is_cached
from cvzoo.weights.provenance import describe_weights

_HEADS = ("name", "here", "trained on", "licence", "score")


def run(args: argparse.Namespace) -> int:
    """0; 1 if nothing is like what was searched. Raises ValueRangeError if there is no model of that name."""
    if args.action == "info":
        _print_info(args.name)
        return 0
    members = [member for member in zoo_members() if _is_wanted(member, args)]
    if args.json:
        print(json.dumps([_record(member) for member in members], indent=2, ensure_ascii=False))
    elif members:
        _print_list(members)
    else:
        print("no model is like that; `cvzoo models` lists all", file=sys.stderr)
    return 0 if members else 1


def _is_wanted(member: ZooMember, args: argparse.Namespace) -> bool:
    if args.task is not None and member.task != args.task:
        return False
    if args.here and not all(map(is_cached, member.files)):
        return False
    record = member.weights
    text = " ".join((member.name, member.task, record.source, record.data, record.licence)).casefold()
    return args.search is None or all(word in text for word in args.search.casefold().split())


def _print_list(members: list[ZooMember]) -> None:
    for task in TASKS:
        rows = [_row(member) for member in members if member.task == task]
        if rows:
            widths = [max(map(len, column)) for column in zip(_HEADS, *rows)]
            print(f"{task}: {len(rows)}")
            for row in (_HEADS, *rows):
                print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
            print()
    if sys.stdout.isatty():
        print("`cvzoo models --task TASK --search WORDS` lists fewer;")
        print("`cvzoo models info NAME` shows where one comes from and who may use it.")


def _row(member: ZooMember) -> tuple[str, ...]:
    record = member.weights
    size = sum(each.size or each.about_size or 0 for each in member.files)
    here = "yes" if all(map(is_cached, member.files)) else f"no, {size / 1e6:.1f} MB" if size else "no"
    score = next((f"{_short(name, 26)} {value}" for name, value in record.score.items()), "")
    licence = record.licence.split(";")[0].split(" (")[0]
    return member.name, here, _short(record.data, 28), _short(licence, 16), score


def _record(member: ZooMember) -> dict[str, object]:
    record = member.weights
    return {
        "name": member.name,
        "task": member.task,
        "here": all(map(is_cached, member.files)),
        "files": [
            {
                "url": each.url,
                "published_hash": each.published_hash,
                "sha256": each.sha256,
                "size": each.size,
                "about_size": each.about_size,
            }
            for each in member.files
        ],
        "licence": record.licence,
        "data": record.data,
        "data_licence": record.data_licence,
        "score": dict(record.score),
        "source": record.source,
        "preprocessing": record.preprocessing if isinstance(record.preprocessing, str) else dict(record.preprocessing),
    }


def _print_info(name: str) -> None:
    member = zoo_member(name)
    others = [record for record in member.files if record != member.weights]
    for record in (member.weights, *others):
        if record != member.weights:
            print()
        lines = describe_weights(record)
        width = max(len(what) for what, _ in lines)
        for what, value in lines:
            print(f"{what:<{width}}  {printable(value)}")


def _short(text: str, limit: int) -> str:
    text = printable(text)
    return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."
