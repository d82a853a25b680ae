"""`cvzoo info`: what a model is made of, how it prepares an image, and what a prediction costs."""

import argparse

from cvzoo.cli.model_options import add_architecture_argument, add_darknet_arguments, add_device_argument
from cvzoo.cli.option_values import positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Prints a model's class, classes, thresholds, preparation of images, config, and parameters by part; then "
        "predicts on a drawn image to measure seconds and memory by kind of function."
    )
    parser.add_argument(
        "model", nargs="?", metavar="MODEL|FILE", help="one that `cvzoo models` lists, or a file of a trained model"
    )
    parser.add_argument(
        "--size", type=positive, nargs=2, default=(480, 640), metavar=("H", "W"), help="of the drawn image (480 640)"
    )
    parser.add_argument("--json", metavar="FILE", help="write all of it as JSON; - for standard output alone")
    add_device_argument(parser)
    add_architecture_argument(parser)
    add_darknet_arguments(parser.add_argument_group("a network of darknet's files"))
    parser.set_defaults(score_thresh=None, nms_thresh=None)
