"""Runs the tests of a checkout of ChainerCV against cvzoo."""

import argparse
import pathlib
import sys

import pytest


def main() -> int:
    """The exit status of pytest."""
    parser = argparse.ArgumentParser(prog="scripts/chainercv_tests", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="a checkout of ChainerCV, or a folder or a file of its tests")
    parser.add_argument("--slow", action="store_true", help="also those that build whole networks")
    parser.epilog = "what follows -- are options of pytest"
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    arguments, more = parser.parse_args(given[:end]), given[end + 1 :]
    tests = arguments.folder / "tests" if (arguments.folder / "chainercv").is_dir() else arguments.folder
    rootdir = tests if tests.is_dir() else tests.parent
    options = ["-p", "chainercv_suite.plugin", "-p", "no:cacheprovider", "-c", "/dev/null", "--import-mode=importlib"]
    options += ["-q", "--continue-on-collection-errors", "-W", "ignore", "-r", "fE"] + (
        [] if arguments.slow else ["-m", "not slow"]
    )
    return pytest.main([*options, "--rootdir", str(rootdir), str(tests), *more])


if __name__ == "__main__":
    sys.exit(main())
