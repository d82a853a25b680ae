"""`cvzoo export`: export a model to ONNX."""

import argparse

from cvzoo.cli.model_options import add_architecture_argument, add_darknet_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Exports a model to ONNX for inference in other programs. If ONNX Runtime is installed, the outputs of both on "
        "the same image are compared, and the largest difference is shown."
    )
    parser.add_argument("model", nargs="?", metavar="MODEL|FILE", help="a model of `cvzoo models`, or a model file")
    parser.add_argument("--format", default="onnx", choices=("onnx",), help="the file format (default: onnx)")
    parser.add_argument("--to", required=True, metavar="OUT.onnx", help="the file to write")
    parser.add_argument("--batch", type=_batch, metavar="N|dynamic", help="batch size (dynamic: any)")
    parser.add_argument("--size", type=_size, metavar="H,W", help="input size (default: dynamic, if the model allows)")
    parser.add_argument(
        "--boxes",
        action=argparse.BooleanOptionalAction,
        help="output boxes, confidence scores, labels, masks and keypoints after non-maximum suppression (NMS), the "
        "default of detectors; with --no-boxes the raw outputs of the heads",
    )
    parser.add_argument("--preset", metavar="NAME", help='preset of the thresholds: "visualize" or "evaluate"')
    parser.add_argument("--photo", metavar="FILE", help="the image to compare the outputs on")
    add_architecture_argument(parser)
    add_darknet_arguments(parser.add_argument_group("darknet models"))


def _batch(text: str) -> int | None:
    try:
        return None if text == "dynamic" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected an integer or dynamic, not {text!r}") from None


def _size(text: str) -> tuple[int, int]:
    try:
        h, w = map(int, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected height and width as 480,640, not {text!r}") from None
    return h, w
