"""`cvzoo benchmark`: measure the speed of a model, by stage, and next to other runtimes."""

import argparse

from cvzoo.cli.model_options import add_architecture_argument, add_darknet_arguments
from cvzoo.cli.option_values import integers, positive, words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Measures the time of reading and decoding, preprocessing, the network, and postprocessing on images: median, "
        "90th and 99th percentile, images per second, for numbers of threads and batch sizes; then the network next to "
        "its exported ONNX file in ONNX Runtime and OpenVINO, in turn, with the same input, outputs compared. On the "
        "CPU, in float32."
    )
    parser.add_argument(
        "model", nargs="?", metavar="MODEL|FILE", help="a model of `cvzoo models`, or a file of a trained model"
    )
    parser.add_argument(
        "--images",
        "--photos",
        dest="images",
        nargs="+",
        required=True,
        metavar="IMAGE",
        help="images, folders, or globs in quotes; best such as are predicted later",
    )
    parser.add_argument("--threads", type=integers, metavar="N,N", help="numbers of threads (default: all cores)")
    parser.add_argument("--batch-size", type=integers, default=(1,), metavar="N,N", help="batch sizes (1)")
    parser.add_argument("--calls", type=positive, default=30, metavar="N", help="measured calls of predict (30)")
    parser.add_argument(
        "--runtimes",
        type=words,
        metavar="NAME,NAME",
        help="onnxruntime, openvino, or none (default: those that are installed)",
    )
    parser.add_argument("--compile", action="store_true", help="compile the network to a graph")
    parser.add_argument("--out", metavar="FILE.json", help="write it as JSON, with facts about the machine")
    add_architecture_argument(parser)
    add_darknet_arguments(parser.add_argument_group("darknet models"))
    parser.set_defaults(score=None, score_thresh=None, nms_thresh=None, device="cpu", dtype="float32")
