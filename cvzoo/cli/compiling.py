"""The option `--compile` of the verbs that show photos to a model."""

import argparse

from cvzoo.links.chain import Chain


def add_compile_argument(group: argparse._ArgumentGroup) -> None:
    """`--compile`."""
    group.add_argument(
        "--compile",
        action="store_true",
        help="replay the network, faster and the same to five digits; recording a size of photos takes as long as some "
        "five of them, so it is for many photos of few sizes",
    )


def compile_if_asked(model: Chain, args: argparse.Namespace) -> None:
    """Replay the model's networks from now on, if `--compile` is given."""
    if args.compile:
        model.compile()
