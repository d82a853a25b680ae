"""`cvzoo export`: write a model as a file that other programs run."""

import argparse

from cvzoo.cli.model_options import add_architecture_argument, add_darknet_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Writes a model as a file that other programs run. Where ONNX Runtime is installed, both then look at the same "
        "photo, and the greatest difference is shown."
    )
    parser.add_argument("model", nargs="?", metavar="MODEL|FILE", help="one that `cvzoo models` lists, or a model file")
    parser.add_argument("--format", required=True, choices=("onnx",), help="what to write")
    parser.add_argument("--to", required=True, metavar="OUT.onnx", help="the file to write")
    parser.add_argument("--batch", type=_batch, metavar="N|dynamic", help="photos at once (dynamic: any number)")
    parser.add_argument("--size", type=_size, metavar="H,W", help="of prepared photos (any, where the model allows)")
    parser.add_argument(
        "--boxes",
        action=argparse.BooleanOptionalAction,
        help="boxes, scores, labels, masks and points after the suppression (what models that find them get); with "
        "--no-boxes what heads say",
    )
    parser.add_argument("--preset", metavar="NAME", help='whose thresholds the file has: "visualize" or "evaluate"')
    parser.add_argument("--photo", metavar="FILE", help="what both look at")
    add_architecture_argument(parser)
    add_darknet_arguments(parser.add_argument_group("a network of darknet's files"))


def _batch(text: str) -> int | None:
    try:
        return None if text == "dynamic" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a whole number or dynamic, not {text!r}") from None


def _size(text: str) -> tuple[int, int]:
    try:
        h, w = map(int, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"two numbers, as 480,640, not {text!r}") from None
    return h, w
