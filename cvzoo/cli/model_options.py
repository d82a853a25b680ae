"""Options that select the model and the device."""

import argparse
import os

from cvzoo.cli.option_values import preset_or_share, share, tile_side


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that select the model and its thresholds."""
    group = parser.add_argument_group("the model")
    group.add_argument(
        "--model",
        metavar="NAME|FILE",
        help="a model of `cvzoo models`, downloaded when first used; or a FILE.safetensors of a trained model",
    )
    add_architecture_argument(group)
    add_darknet_arguments(group)
    group.add_argument(
        "--score",
        type=preset_or_share,
        metavar="PRESET|T",
        help="the model's thresholds for a purpose: visualize, evaluate, or deploy, those of each class that `cvzoo "
        "evaluate --find-thresholds` stores in the model file; or a minimal confidence score, as --score-thresh",
    )
    group.add_argument("--score-thresh", type=share, metavar="T", help="minimal confidence score of detections, 0 to 1")
    group.add_argument("--nms-thresh", type=share, metavar="T", help="IoU threshold of non-maximum suppression, 0 to 1")
    add_device_argument(group)


def add_architecture_argument(group: argparse._ActionsContainer) -> None:
    """Adds `--architecture`."""
    group.add_argument(
        "--architecture",
        metavar="FILE.py:CLASS",
        help="your own class of the model in FILE, or PACKAGE.MODULE:CLASS; its code is executed",
    )


def add_darknet_arguments(group: argparse._ActionsContainer) -> None:
    """Adds the options of darknet models."""
    group.add_argument("--cfg", metavar="FILE", help="darknet's .cfg of the network")
    group.add_argument("--weights", metavar="FILE", help="the weights of the network")
    group.add_argument("--names", metavar="FILE", help="class names, one per line; default: numbers")
    group.add_argument(
        "--resize",
        choices=("stretch", "letterbox"),
        help="resizing of images; default: that of the .cfg, otherwise stretch; letterbox for Redmon's files",
    )
    group.add_argument("--clip", action="store_const", const=True, help="clip a darknet network's boxes to the image")


def add_device_argument(group: argparse._ActionsContainer) -> None:
    """Adds `--device` and `--dtype`, with the environment variables CVZOO_DEVICE and CVZOO_DTYPE as defaults."""
    group.add_argument(
        "--device",
        default=os.environ.get("CVZOO_DEVICE") or "cpu",
        metavar="NAME",
        help="device: cpu, gpu:0 ... (default: CVZOO_DEVICE, else cpu)",
    )
    group.add_argument(
        "--dtype",
        choices=("float32", "tf32", "mixed_bf16", "mixed_fp16"),
        default=os.environ.get("CVZOO_DTYPE") or "float32",
        help="precision; mixed: convolutions and matrix products in 16 bits (default: CVZOO_DTYPE, else float32)",
    )


def add_compile_argument(group: argparse._ArgumentGroup) -> None:
    """Adds `--compile`."""
    group.add_argument(
        "--compile",
        action="store_true",
        help="compile the network to a graph for each image size: faster, equal to five digits; compiling takes as "
        "long as some five images, so it is useful for many images of few sizes",
    )


def add_inference_arguments(group: argparse._ArgumentGroup) -> None:
    """Adds `--tile`, `--tile-overlap`, `--tta` and `--compile`."""
    group.add_argument(
        "--tile",
        type=tile_side,
        metavar="N",
        help="sliced inference for small objects in large images: predict overlapping tiles of N x N pixels, and the "
        "whole image, and merge the results",
    )
    group.add_argument("--tile-overlap", type=share, metavar="F", help="overlap of tiles, 0 to 0.9 (default: 0.2)")
    group.add_argument(
        "--tta", action="store_true", help="test-time augmentation: predict a mirror image, too, and merge the results"
    )
    add_compile_argument(group)
