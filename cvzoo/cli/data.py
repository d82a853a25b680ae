"""`cvzoo data`: check, convert, split and show data sets."""

import argparse
import importlib


def run(args: argparse.Namespace) -> int:
    """The exit status of the action."""
    return importlib.import_module(f"cvzoo.cli.data_{args.action}").run(args)
