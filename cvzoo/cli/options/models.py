"""`cvzoo models`: list the pretrained models, with their data sets, scores, licenses and sources."""

import argparse
from typing import get_args

from cvzoo.links.model.zoo_member import Task

TASKS = get_args(Task)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Lists the models with pretrained weights (checkpoints), by task."
    _add_filters(parser, None, False)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    # an option after `list` overrides the same one before it, which otherwise stays
    _add_filters(actions.add_parser("list", help="the list", allow_abbrev=False), argparse.SUPPRESS, argparse.SUPPRESS)
    info = actions.add_parser("info", help="all details of one model's files", allow_abbrev=False)
    info.add_argument("name", metavar="NAME")


def _add_filters(parser: argparse.ArgumentParser, nothing: str | None, no: bool | str) -> None:
    parser.add_argument(
        "--task", choices=TASKS, default=nothing, metavar="TASK", help=f"only models of this task: {', '.join(TASKS)}"
    )
    parser.add_argument(
        "--search",
        default=nothing,
        metavar="WORDS",
        help="only models with all these words in name, source, data or license, such as 'resnet coco'",
    )
    parser.add_argument("--here", action="store_true", default=no, help="only models that are downloaded already")
    parser.add_argument("--json", action="store_true", default=no, help="all details as JSON")
