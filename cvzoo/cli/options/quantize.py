"""`cvzoo quantize`: quantize a model to int8 or bfloat16 by calibration on images."""

import argparse

from cvzoo.cli.model_options import add_model_arguments
from cvzoo.links.quantization.methods import METHODS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Post-training quantization: runs calibration on images to find the ranges of activations, and writes a model "
        "file whose layers compute in int8 (or bfloat16) where that is faster, for `cvzoo predict --model FILE`. Use "
        "--evaluate to measure the loss of accuracy."
    )
    parser.epilog = "exit status: 0 written; 2 cannot run"
    parser.add_argument(
        "photos",
        nargs="+",
        metavar="IMAGE",
        help="calibration images, some tens, similar to those of later predictions: files, folders, globs in quotes, "
        "or - for a list on standard input",
    )
    parser.add_argument("--to", required=True, metavar="OUT.safetensors", help="the file to write")
    add_model_arguments(parser)
    group = parser.add_argument_group("quantization")
    group.add_argument("--precision", choices=("int8", "bf16"), default="int8", help="data type (default: int8)")
    group.add_argument("--method", choices=METHODS, default="mse", help="clipping of ranges (default: mse)")
    group.add_argument(
        "--in-float", action="append", default=[], metavar="PATH", help="a layer or a part to keep in float32"
    )
    group.add_argument(
        "--limit", type=int, default=64, metavar="N", help="calibrate on N of the images, evenly spaced (default: 64)"
    )

    group = parser.add_argument_group("evaluation")
    group.add_argument(
        "--evaluate",
        metavar="SPEC",
        help="annotated images as for `cvzoo evaluate --data`, different from the calibration images: compare the "
        "scores of the float32 and the quantized model",
    )
    group.add_argument(
        "--evaluate-images",
        "--evaluate-photos",
        dest="evaluate_photos",
        metavar="DIR",
        help="the folder of these images (evaluate --images)",
    )
    group.add_argument("--evaluate-split", metavar="NAME", help="the split of these images (evaluate --split)")
