"""`cvzoo models`: what the zoo has; `cvzoo models info NAME`: where it comes from and who may use it."""

import argparse
import sys

from cvzoo.cli.result_table import printable
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.links.model.zoo import zoo_members
from cvzoo.weights.provenance import describe_weights, list_weights


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Without more words, the list of the models with published weights."
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="the list", allow_abbrev=False)
    info = actions.add_parser("info", help="everything known of one model's files", allow_abbrev=False)
    info.add_argument("name", metavar="NAME")


def run(args: argparse.Namespace) -> int:
    """0. Raises ValueRangeError if there is no model of that name."""
    if args.action == "info":
        _print_info(args.name)
    else:
        _print_list()
    return 0


def _print_list() -> None:
    heads = ("name", "here", "trained on", "licence", "score")
    rows = [heads]
    for member in zoo_members():
        row = list_weights([member.weights])[0]
        fetched = all(each.is_cached for each in list_weights(member.files))
        size = sum(record.size or 0 for record in member.files)
        here = "yes" if fetched else f"no, {size / 1e6:.1f} MB" if size else "no"
        rows.append((member.name, here, _short(row.data), _short(row.licence), row.score))
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    if sys.stdout.isatty():
        print("\n`cvzoo models info NAME` shows where one comes from and who may use it.")


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


def _short(text: str, limit: int = 36) -> str:
    text = printable(text)
    return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."
