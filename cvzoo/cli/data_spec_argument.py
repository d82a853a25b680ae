"""The word of a command line that names a data set."""

import argparse
import dataclasses

from cvzoo.datasets.layouts.data_spec import SPEC_HELP, DataSpec, parse_data_spec

OUTSIDE_HELP = "use photos that lie outside of the data set's folder, by their names in the annotations or by links"


def add_spec_argument(parser: argparse.ArgumentParser) -> None:
    """SPEC, and `--allow-outside`."""
    parser.add_argument("spec", metavar="SPEC", help=SPEC_HELP)
    parser.add_argument("--allow-outside", action="store_true", help=OUTSIDE_HELP)


def spec_of(args: argparse.Namespace) -> DataSpec:
    """The data set that the arguments name. Raises ConfigError."""
    spec = parse_data_spec(args.spec)
    return dataclasses.replace(spec, outside=spec.outside or args.allow_outside)
