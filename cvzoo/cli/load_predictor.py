"""The model that the options of a command line describe, whatever it does with photos."""

import argparse
import os
import pathlib

from cvzoo.cli.fetching import fetching
from cvzoo.cli.own_architecture import own_architecture
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.chain import Chain
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.links.model.zoo_member import ZooMember
from cvzoo.serializers.model_file import load_model
from cvzoo.weights.download import fetch_weights

# of files of weights, whether they are there or not
_ENDINGS = (".safetensors", ".npz", ".pth", ".pt", ".th", ".pkl", ".params", ".zip", ".caffemodel", ".weights")


def load_predictor(args: argparse.Namespace) -> Chain:
    """The model, with its weights and thresholds, on its device.

    Raises ConfigError if options are missing or have no meaning for it, and what reading the files raises.
    """
    if args.model is None:
        refuse_architecture(args.architecture, "--cfg")
    model = darknet_detector(args) if args.model is None else _named_model(args)
    for name, value in (("score_thresh", args.score_thresh), ("nms_thresh", args.nms_thresh)):
        if value is None:
            continue
        if not isinstance(model, AbstractThresholds):
            raise ConfigError(f"--{name.replace('_', '-')} is for models that find objects, {args.model} does not")
        if name == "score_thresh":
            model.score_thresh = value
        else:
            model.nms_thresh = value
    if args.device != "cpu":
        model.to_device(args.device)
    return model


def compile_if_asked(model: Chain, args: argparse.Namespace) -> None:
    """Replay the model's networks from now on, if `--compile` is given."""
    if args.compile:
        model.compile()


def darknet_detector(args: argparse.Namespace) -> AbstractDetector:
    """The detector of `add_darknet_arguments`. Raises ConfigError if one is missing, and what reading them raises."""
    if args.cfg is None:
        raise ConfigError("which model?", hint="--model NAME, or --cfg FILE --weights FILE --names FILE")
    if args.weights is None:
        raise ConfigError("--cfg describes a network, but not what it has learnt", hint="--weights FILE")
    return DarknetDetector(args.cfg, args.weights, label_names=args.names, resize=args.resize, clip=bool(args.clip))


def _named_model(args: argparse.Namespace) -> Chain:
    refuse_darknet_options(args, "--model")
    return named_model(args.model, args.architecture)


def named_model(model: str, architecture: str | None) -> Chain:
    """The model of a file that says what it is, or of the zoo. Raises ConfigError, and what reading the file raises.

    architecture: the words of `--architecture`, or None
    """
    if means_file(model):
        return load_model(model, architecture=own_architecture(architecture))
    refuse_architecture(architecture, model)
    return make_member(zoo_member(model))


def refuse_architecture(architecture: str | None, what: str) -> None:
    """Raises ConfigError if `--architecture` is given. what: says already what it is built of"""
    if architecture is not None:
        raise ConfigError(f"--architecture is for a model FILE of a class of your own, not for {what}")


def refuse_darknet_options(args: argparse.Namespace, what: str) -> None:
    """Raises ConfigError if one of `add_darknet_arguments` is given. what: brings all that they say"""
    extra = [f"--{name}" for name in ("cfg", "weights", "names", "resize", "clip") if vars(args)[name] is not None]
    if extra:
        raise ConfigError(f"{what} brings its own files and rules; {', '.join(extra)} cannot change them")


def make_member(member: ZooMember) -> Chain:
    """The model, its files fetched with progress on standard error. Raises DownloadError."""
    for record in member.files:
        with fetching(record.file_name) as progress:
            fetch_weights(record, progress=progress, pin=False)  # done by the model
    return member.make()


def means_file(model: str) -> bool:
    """Whether the word means a file: no member of the zoo has such a name."""
    return model.lower().endswith(_ENDINGS) or pathlib.PurePath(model).name != model or os.path.isfile(model)
