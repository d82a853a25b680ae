"""The classifier that the options of a command line describe."""

import argparse

from cvzoo.cli.load_predictor import make_member, means_file
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.serializers.model_file import load_model


def load_classifier(args: argparse.Namespace) -> AbstractClassifier:
    """The classifier, with its weights. Raises ConfigError if it is none, and what reading the files raises."""
    if args.model is None:
        raise ConfigError("classes of photos need a classifier", hint="--model NAME or --model FILE.safetensors")
    for option in ("cfg", "weights", "names", "resize", "clip", "score_thresh", "nms_thresh"):
        if vars(args)[option] is not None:
            raise ConfigError(f"--{option.replace('_', '-')} is for detectors, and {args.data} has a class a photo")
    model = load_model(args.model) if means_file(args.model) else make_member(zoo_member(args.model))
    if not isinstance(model, AbstractClassifier):
        raise ConfigError(f"{args.model} is no classifier, and {args.data} has a class a photo")
    if args.device != "cpu":
        model.to_device(args.device)
    return model
