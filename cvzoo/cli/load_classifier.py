"""The classifier that the options of a command line describe."""

import argparse

from cvzoo.cli.load_predictor import named_model
from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.model.classifier import AbstractClassifier


def load_classifier(args: argparse.Namespace) -> AbstractClassifier:
    """The classifier, with its weights. Raises ConfigError if it is none, and what reading the files raises."""
    if args.model is None:
        raise ConfigError("classes of photos need a classifier", hint="--model NAME or --model FILE.safetensors")
    for option in ("cfg", "weights", "names", "resize", "clip", "score_thresh", "nms_thresh"):
        if vars(args)[option] is not None:
            raise ConfigError(f"--{option.replace('_', '-')} is for detectors, and {args.data} has a class a photo")
    model = named_model(args.model, args.architecture)
    if not isinstance(model, AbstractClassifier):
        raise ConfigError(f"{args.model} is no classifier, and {args.data} has a class a photo")
    if args.device != "cpu":
        model.to_device(args.device)
    return model
