"""`cvzoo verify`: check a model: its file, its parameters, determinism and batch invariance."""

import argparse

from cvzoo.cli.model_options import add_architecture_argument, add_darknet_arguments, add_device_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Checks a model's file against its published hash, that all parameters are finite, that predict() is "
        "deterministic, batch-invariant and independent of the image source, that a saved checkpoint gives the same "
        "results, that an evaluator gets the same predictions, and that outputs equal stored golden outputs, if any."
    )
    parser.epilog = "exit status: 0 all checks passed; 1 a check failed; 2 there is nothing to verify"
    parser.add_argument(
        "model", nargs="?", metavar="MODEL|FILE", help="a model of `cvzoo models`, or a file of weights (checkpoint)"
    )
    parser.add_argument("--as", dest="name", metavar="NAME", help="the model of the zoo that FILE belongs to")
    parser.add_argument(
        "--images",
        "--photos",
        dest="photos",
        nargs="+",
        default=(),
        metavar="IMAGE",
        help="test with these images instead of synthetic ones",
    )
    parser.add_argument("--fetch", action="store_true", help="download the model's files if necessary")
    add_device_argument(parser)
    parser.add_argument("--json", metavar="FILE", help="also write the table as JSON; - for standard output only")
    parser.add_argument(
        "--write-golden", action="store_true", help="store the current outputs next to the file, for later checks"
    )
    add_architecture_argument(parser)
    add_darknet_arguments(parser.add_argument_group("darknet models"))
