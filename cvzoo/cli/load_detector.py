"""The detector that the options of a command line describe."""

import argparse

from cvzoo.cli.load_predictor import load_predictor, means_file
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
