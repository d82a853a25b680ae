"""Options that say which model to use, and on what device."""

import argparse
import os

from cvzoo.cli.option_values import share


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say which model to use, and with which thresholds."""
    group = parser.add_argument_group("the model")
    group.add_argument(
        "--model",
        metavar="NAME|FILE",
        help="one that `cvzoo models` lists, fetched when first used; or a FILE.safetensors of a trained model",
    )
    add_architecture_argument(group)
    add_darknet_arguments(group)
    group.add_argument("--score-thresh", type=share, metavar="T", help="drop what scores this or less, 0 to 1")
    group.add_argument("--nms-thresh", type=share, metavar="T", help="of two boxes that overlap more, keep the better")
    add_device_argument(group)


def add_architecture_argument(group: argparse._ActionsContainer) -> None:
    """`--architecture`."""
    group.add_argument(
        "--architecture",
        metavar="FILE.py:CLASS",
        help="the class of your own that a model FILE holds, or PACKAGE.MODULE:CLASS; its code is run",
    )


def add_darknet_arguments(group: argparse._ActionsContainer) -> None:
    """The options that say what a network of darknet's files is."""
    group.add_argument("--cfg", metavar="FILE", help="darknet's .cfg of the network")
    group.add_argument("--weights", metavar="FILE", help="the weights that belong to it")
    group.add_argument("--names", metavar="FILE", help="names of the classes, one a line; without them, numbers")
    group.add_argument(
        "--resize",
        choices=("stretch", "letterbox"),
        help="how a photo is fitted to a darknet network: as the .cfg says, else stretch; letterbox for Redmon's files",
    )
    group.add_argument(
        "--clip", action="store_const", const=True, help="cut a darknet network's boxes at the image's edges"
    )


def add_device_argument(group: argparse._ActionsContainer) -> None:
    """`--device` and `--dtype`; without them the environment's CVZOO_DEVICE and CVZOO_DTYPE decide."""
    group.add_argument(
        "--device",
        default=os.environ.get("CVZOO_DEVICE") or "cpu",
        metavar="NAME",
        help="what to compute on: cpu, gpu:0 (default: CVZOO_DEVICE, else cpu)",
    )
    group.add_argument(
        "--dtype",
        choices=("float32", "tf32", "mixed_bf16", "mixed_fp16"),
        default=os.environ.get("CVZOO_DTYPE") or "float32",
        help="what to compute in; mixed: convolutions and products of matrices in 16 bits (default: CVZOO_DTYPE, else "
        "float32)",
    )


def add_compile_argument(group: argparse._ArgumentGroup) -> None:
    """`--compile`."""
    group.add_argument(
        "--compile",
        action="store_true",
        help="replay the network, faster and the same to five digits; recording a size of photos takes as long as some "
        "five of them, so it is for many photos of few sizes",
    )
