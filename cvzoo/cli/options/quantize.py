"""`cvzoo quantize`: make a model file that computes in eight bits, of photos like yours."""

import argparse

from cvzoo.cli.model_options import add_model_arguments
from cvzoo.links.quantization.methods import METHODS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Looks at photos to learn what values a model's layers read, and writes a model file whose layers compute in "
        "eight bits (or bfloat16) where that pays. `cvzoo predict` takes it as --model FILE. What accuracy the whole "
        "model lost is known only with --evaluate."
    )
    parser.epilog = "exit status: 0 written; 2 cannot run"
    parser.add_argument(
        "photos",
        nargs="+",
        metavar="PHOTO",
        help="some tens like those that will be predicted: files, folders, globs in quotes, or - for a list",
    )
    parser.add_argument("--to", required=True, metavar="OUT.safetensors", help="the file to write")
    add_model_arguments(parser)
    group = parser.add_argument_group("the bits")
    group.add_argument("--precision", choices=("int8", "bf16"), default="int8", help="(default: int8)")
    group.add_argument("--method", choices=METHODS, default="mse", help="where values are cut (default: mse)")
    group.add_argument(
        "--in-float", action="append", default=[], metavar="PATH", help="a layer or a part that stays in float32"
    )
    group.add_argument(
        "--limit", type=int, default=64, metavar="N", help="look at N of the photos, evenly spaced (default: 64)"
    )

    group = parser.add_argument_group("what it costs")
    group.add_argument(
        "--evaluate",
        metavar="SPEC",
        help="annotated photos, as `cvzoo evaluate --data` takes them, other ones than above: scores in float32 and in "
        "fewer bits, side by side",
    )
    group.add_argument("--evaluate-photos", metavar="DIR", help="`cvzoo evaluate --photos`: where these photos are")
    group.add_argument("--evaluate-split", metavar="NAME", help="`cvzoo evaluate --split`: which of them")
