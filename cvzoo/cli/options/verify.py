"""`cvzoo verify`: check a model: its file, its numbers, and that it says the same however it is asked."""

import argparse

from cvzoo.cli.model_options import add_architecture_argument, add_darknet_arguments, add_device_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Checks a model's file against its published hash, that every number is there, that predict() gives the same "
        "bits again, in batches, from files and after saving, that an evaluator sees the same, and, where it is "
        "stored, that it says what it is known to say."
    )
    parser.epilog = "exit status: 0 all is right; 1 something is wrong; 2 there is nothing to verify"
    parser.add_argument(
        "model", nargs="?", metavar="MODEL|FILE", help="one that `cvzoo models` lists, or a file of weights"
    )
    parser.add_argument("--as", dest="name", metavar="NAME", help="which model of the zoo FILE belongs to")
    parser.add_argument("--photos", nargs="+", default=(), metavar="PHOTO", help="look at these, not at drawn ones")
    parser.add_argument("--fetch", action="store_true", help="fetch the model's files if they are not here")
    add_device_argument(parser)
    parser.add_argument("--json", metavar="FILE", help="write the table as JSON, too; - for standard output alone")
    parser.add_argument(
        "--write-golden", action="store_true", help="store beside the file what the model says now, to be held to it"
    )
    add_architecture_argument(parser)
    add_darknet_arguments(parser.add_argument_group("a network of darknet's files"))
