"""`cvzoo info`: show a model's architecture, preprocessing, parameters, and the cost of inference."""

import argparse

from cvzoo.cli.model_options import add_architecture_argument, add_darknet_arguments, add_device_argument
from cvzoo.cli.option_values import positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Prints a model's architecture, classes, thresholds, preprocessing, config, layers, parameters, multiply-adds "
        "and FLOPs; then runs inference on a synthetic image to measure time and memory by function."
    )
    parser.add_argument(
        "model", nargs="?", metavar="MODEL|FILE", help="a model of `cvzoo models`, or a file of a trained model"
    )
    parser.add_argument(
        "--size", type=positive, nargs=2, default=(480, 640), metavar=("H", "W"), help="size of the image (480 640)"
    )
    parser.add_argument("--layers", action="store_true", help="print each layer: output, parameters, multiply-adds")
    parser.add_argument("--json", metavar="FILE", help="write it as JSON; - for standard output only")
    add_device_argument(parser)
    add_architecture_argument(parser)
    add_darknet_arguments(parser.add_argument_group("darknet models"))
    parser.set_defaults(score=None, score_thresh=None, nms_thresh=None)
