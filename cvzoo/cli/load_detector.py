"""The detector that the options of a command line describe."""

import argparse

from cvzoo.cli.load_predictor import add_darknet_arguments, load_predictor, means_file
from cvzoo.cli.on_device import add_device_argument
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter
from cvzoo.links.model.key_point_detector import AbstractKeyPointDetector

Finder = AbstractDetector | AbstractInstanceSegmenter | AbstractKeyPointDetector
# what is compared -> what it is called, and the models that find it; all of them find boxes
_FINDERS = {
    "bbox": ("boxes", (AbstractDetector, AbstractInstanceSegmenter, AbstractKeyPointDetector)),
    "segm": ("masks of instances", (AbstractInstanceSegmenter,)),
    "keypoints": ("key points", (AbstractKeyPointDetector,)),
}
_TASKS = ("detection", "instance segmentation", "keypoints")


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say which model to use, and with which thresholds."""
    group = parser.add_argument_group("the model")
    group.add_argument(
        "--model",
        metavar="NAME|FILE",
        help="one that `cvzoo models` lists, fetched when first used; or a FILE.safetensors of a trained model",
    )
    add_darknet_arguments(group)
    group.add_argument("--score-thresh", type=_share, metavar="T", help="drop what scores this or less, 0 to 1")
    group.add_argument("--nms-thresh", type=_share, metavar="T", help="of two boxes that overlap more, keep the better")
    add_device_argument(group)


def load_detector(args: argparse.Namespace, iou_type: str = "bbox") -> Finder:
    """The model that finds what is compared ("bbox", "segm", "keypoints"), with its weights.

    Raises ConfigError if options are missing or it finds no such thing, and what reading the files raises.
    """
    what, kinds = _FINDERS[iou_type]
    if args.model is not None and not means_file(args.model) and zoo_member(args.model).task not in _TASKS:
        raise ConfigError(
            f"{args.model} is for {zoo_member(args.model).task}, it finds no {what}",
            hint="`cvzoo predict`, or `cvzoo evaluate --data folder:ROOT` or `--data labels:DIR`",
        )
    model = load_predictor(args)
    if not isinstance(model, kinds):
        raise ConfigError(f"{args.model or args.cfg} holds a {type(model).__name__}, which finds no {what}")
    return model


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value
