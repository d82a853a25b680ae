"""The detector that the options of a command line describe."""

import argparse
import os
import pathlib

from cvzoo.cli.fetching import fetching
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.zoo_member import ZooMember
from cvzoo.serializers.model_file import load_model
from cvzoo.weights.download import fetch_weights


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say which detector to use, and with which thresholds."""
    group = parser.add_argument_group("the model")
    group.add_argument(
        "--model",
        metavar="NAME|FILE",
        help="one that `cvzoo models` lists, fetched when first used; or a FILE.safetensors of a trained model",
    )
    group.add_argument("--cfg", metavar="FILE", help="darknet's .cfg of the network")
    group.add_argument("--weights", metavar="FILE", help="the weights that belong to it")
    group.add_argument("--names", metavar="FILE", help="names of the classes, one a line; without them, numbers")
    group.add_argument(
        "--resize",
        choices=("stretch", "letterbox"),
        help="how a photo is fitted to a darknet network: as the .cfg says, else stretch; letterbox for Redmon's files",
    )
    group.add_argument("--score-thresh", type=_share, metavar="T", help="drop what scores this or less, 0 to 1")
    group.add_argument("--nms-thresh", type=_share, metavar="T", help="of two boxes that overlap more, keep the better")
    group.add_argument("--device", default="cpu", metavar="NAME", help="what to compute on (default: cpu)")


def load_detector(args: argparse.Namespace) -> AbstractDetector:
    """The detector, with its weights. Raises ConfigError if options are missing, and what reading the files raises."""
    model = _darknet_detector(args) if args.model is None else _zoo_detector(args)
    if args.score_thresh is not None:
        model.score_thresh = args.score_thresh
    if args.nms_thresh is not None:
        model.nms_thresh = args.nms_thresh
    if args.device != "cpu":
        model.to_device(args.device)
    return model


def _darknet_detector(args: argparse.Namespace) -> AbstractDetector:
    if args.cfg is None:
        raise ConfigError("which model?", hint="--model NAME, or --cfg FILE --weights FILE --names FILE")
    if args.weights is None:
        raise ConfigError("--cfg describes a network, but not what it has learnt", hint="--weights FILE")
    return DarknetDetector(args.cfg, args.weights, label_names=args.names, resize=args.resize)


def _zoo_detector(args: argparse.Namespace) -> AbstractDetector:
    given = {"--cfg": args.cfg, "--weights": args.weights, "--names": args.names, "--resize": args.resize}
    extra = [option for option, value in given.items() if value is not None]
    if extra:
        raise ConfigError(f"--model brings its own files and rules; {', '.join(extra)} cannot change them")
    if means_file(args.model):
        return _detector_of_file(args.model)
    member = zoo_member(args.model)
    if member.task != "detection":
        raise ConfigError(
            f"{args.model} names pictures, it finds no boxes",
            hint="`cvzoo evaluate --data folder:ROOT`, or its predict() in Python",
        )
    return make_member(member)


def make_member(member: ZooMember) -> AbstractDetector | AbstractClassifier:
    """The model, its files fetched with progress on standard error. Raises DownloadError."""
    for record in member.files:
        with fetching(record.file_name) as progress:
            fetch_weights(record, progress=progress)
    return member.make()


def means_file(model: str) -> bool:
    """Whether the word means a file: no member of the zoo has such a name."""
    return model.lower().endswith(".safetensors") or pathlib.PurePath(model).name != model or os.path.isfile(model)


def _detector_of_file(path: str) -> AbstractDetector:
    model = load_model(path)
    if not isinstance(model, AbstractDetector):
        raise ConfigError(f"{path} holds a {type(model).__name__}, which finds no boxes", hint="predict() in Python")
    return model


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value
