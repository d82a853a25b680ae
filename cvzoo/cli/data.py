"""`cvzoo data`: runs one of the actions on data sets."""

import argparse
import importlib


def run(args: argparse.Namespace) -> int:
    """Runs the action and returns its exit status."""
    return importlib.import_module(f"cvzoo.cli.data_{args.action}").run(args)
