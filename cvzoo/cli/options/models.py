"""`cvzoo models`: list the published weights that cvzoo knows, and where they come from."""

import argparse
from typing import get_args

from cvzoo.links.model.zoo_member import Task

TASKS = get_args(Task)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Without more words, the list of the models with published weights, task by task."
    _add_filters(parser, None, False)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    # what is not said after `list` leaves what was said before it
    _add_filters(actions.add_parser("list", help="the list", allow_abbrev=False), argparse.SUPPRESS, argparse.SUPPRESS)
    info = actions.add_parser("info", help="everything known of one model's files", allow_abbrev=False)
    info.add_argument("name", metavar="NAME")


def _add_filters(parser: argparse.ArgumentParser, nothing: str | None, no: bool | str) -> None:
    parser.add_argument(
        "--task", choices=TASKS, default=nothing, metavar="TASK", help=f"only these: {', '.join(TASKS)}"
    )
    parser.add_argument(
        "--search",
        default=nothing,
        metavar="WORDS",
        help="only what has all these words in its name, source, data or licence, such as 'resnet coco'",
    )
    parser.add_argument("--here", action="store_true", default=no, help="only what needs not be fetched")
    parser.add_argument("--json", action="store_true", default=no, help="as JSON, everything that is known of each")
