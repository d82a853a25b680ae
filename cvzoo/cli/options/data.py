"""`cvzoo data`: check, convert, split and show data sets."""

import argparse
import importlib

from cvzoo.cli.verbs import summaries


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Tools for data sets: check, fix, convert, split and show them, and suggest anchors."
    actions = parser.add_subparsers(metavar="ACTION", title="actions", dest="action", required=True)
    for name, summary in summaries("data_").items():
        action = actions.add_parser(name, help=summary, allow_abbrev=False)
        importlib.import_module(f"cvzoo.cli.options.data_{name}").add_arguments(action)
