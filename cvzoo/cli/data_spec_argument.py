"""The data set specification of a command line."""

import argparse
import dataclasses

from cvzoo.datasets.layouts.data_spec import DataSpec, parse_data_spec


def spec_of(args: argparse.Namespace) -> DataSpec:
    """The parsed specification. Raises ConfigError."""
    spec = parse_data_spec(args.spec)
    return dataclasses.replace(spec, outside=spec.outside or args.allow_outside)
