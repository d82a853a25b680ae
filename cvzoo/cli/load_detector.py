"""Loads the detector of a command line's options."""

import argparse

from cvzoo.cli.load_predictor import load_predictor, means_file
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter
from cvzoo.links.model.keypoint_detector import AbstractKeypointDetector

Finder = AbstractDetector | AbstractInstanceSegmenter | AbstractKeypointDetector
# --iou-type -> its name in messages, and the models that predict it; all of them predict boxes
_FINDERS: dict[str, tuple[str, tuple[type[Finder], ...]]] = {
    "bbox": ("boxes", (AbstractDetector, AbstractInstanceSegmenter, AbstractKeypointDetector)),
    "segm": ("masks of instances", (AbstractInstanceSegmenter,)),
    "keypoints": ("keypoints", (AbstractKeypointDetector,)),
}
_TASKS = ("detection", "instance segmentation", "keypoints")


def load_detector(args: argparse.Namespace, iou_type: str = "bbox") -> Finder:
    """The model for an iou_type ("bbox", "segm", "keypoints"), with its weights.

    Raises ConfigError if options are missing or it is for another task, and errors of reading the files.
    """
    what, kinds = _FINDERS[iou_type]
    if args.model is not None and not means_file(args.model) and zoo_member(args.model).task not in _TASKS:
        raise ConfigError(
            f"{args.model} is a model for {zoo_member(args.model).task}, it does not predict {what}",
            hint="`cvzoo predict`, or `cvzoo evaluate --data folder:ROOT` or `--data labels:DIR`",
        )
    model = load_predictor(args, quiet=args.quiet)
    if not isinstance(model, kinds):
        raise ConfigError(f"{args.model or args.cfg} contains a {type(model).__name__}, which does not predict {what}")
    return model
