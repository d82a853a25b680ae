"""Loads the model of a command line's options, of any task."""

import argparse
import os
import pathlib
import warnings
from typing import Any, TypeAlias

import numpy as np

from cvzoo import serializers
from cvzoo.cli.fetching import fetching
from cvzoo.cli.own_architecture import own_architecture
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.chain import Chain
from cvzoo.links.model.augmented_predictor import AugmentedPredictor
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.links.model.tiled_predictor import TiledPredictor
from cvzoo.links.model.zoo_member import ZooMember
from cvzoo.reporting.counted import counted
from cvzoo.weights.download import fetch_weights

# extensions of files of weights, existing or not
_ENDINGS = (".safetensors", ".npz", ".pth", ".pt", ".th", ".pkl", ".params", ".zip", ".caffemodel", ".weights")

Predictor: TypeAlias = Any  # what has `predict(imgs)`; the results and other methods are those of its task


def load_predictor(args: argparse.Namespace, *, quiet: bool = False) -> Chain:
    """The model, with its weights and thresholds, on its device.

    quiet: no progress of downloads

    Raises ConfigError if options are missing or do not apply to it, and errors of reading the files.
    """
    if args.model is None:
        refuse_architecture(args.architecture, "--cfg")
    model = darknet_detector(args) if args.model is None else _named_model(args, quiet)
    if args.score is not None:
        if not isinstance(model, AbstractThresholds):
            raise ConfigError(f"--score applies to detectors, which {args.model} is not")
        if args.score_thresh is not None:
            raise ConfigError("--score and --score-thresh cannot be combined")
        if isinstance(args.score, float):
            model.score_thresh = args.score
        else:
            model.use_preset(args.score)
    for name, value in (("score_thresh", args.score_thresh), ("nms_thresh", args.nms_thresh)):
        if value is None:
            continue
        if not isinstance(model, AbstractThresholds):
            raise ConfigError(f"--{name.replace('_', '-')} applies to detectors, which {args.model} is not")
        if name == "score_thresh":
            model.score_thresh = value
        else:
            model.nms_thresh = value
    # a sum of NaN or infinity is one of them, and takes a pass without a temporary array
    named = model.namedparams(include_uninit=False)
    wrong = [name for name, each in named if not np.isfinite(np.sum(each.array, dtype=np.float32))]
    if wrong:
        warnings.warn(
            f"{counted(len(wrong), 'parameter of the model contains', 'parameters of the model contain')} NaN "
            f"or infinity, such as {wrong[0]}: its predictions are "
            "meaningless",
            RuntimeWarning,
            stacklevel=2,
        )
    if args.device != "cpu":
        model.to_device(args.device)
    return model


def with_inference_options(model: Chain, args: argparse.Namespace) -> Predictor:
    """The model itself, compiled if `--compile` is given, or what predicts with it by `--tile` or `--tta`.

    Raises ConfigError if both are given, UnsupportedError if the model's task has no such inference.
    """
    if args.compile:
        model.compile()
    if args.tile is None and args.tile_overlap is not None:
        raise ConfigError("--tile-overlap needs --tile")
    if args.tile is not None and args.tta:
        raise ConfigError("--tile and --tta cannot be combined")
    if args.tile is not None:
        return TiledPredictor(model, args.tile, overlap=0.2 if args.tile_overlap is None else args.tile_overlap)
    return AugmentedPredictor(model) if args.tta else model


def darknet_detector(args: argparse.Namespace) -> AbstractDetector:
    """The detector of `add_darknet_arguments`. Raises ConfigError if one is missing, and errors of reading files."""
    if args.cfg is None:
        raise ConfigError("no model was given", hint="--model NAME or FILE, or --cfg FILE --weights FILE --names FILE")
    if args.weights is None:
        raise ConfigError("--cfg needs the weights of the network", hint="--weights FILE")
    return DarknetDetector(args.cfg, args.weights, label_names=args.names, resize=args.resize, clip=bool(args.clip))


def _named_model(args: argparse.Namespace, quiet: bool) -> Chain:
    refuse_darknet_options(args, "--model")
    return named_model(args.model, args.architecture, quiet=quiet)


def named_model(model: str, architecture: str | None, *, quiet: bool = False) -> Chain:
    """The model of a self-describing file, or of the zoo. Raises ConfigError, and errors of reading the file.

    architecture: the value of `--architecture`, or None
    quiet: no progress of downloads
    """
    if means_file(model):
        return serializers.load_model(model, architecture=own_architecture(architecture))
    refuse_architecture(architecture, model)
    return make_member(zoo_member(model), quiet=quiet)


def refuse_architecture(architecture: str | None, what: str) -> None:
    """Raises ConfigError if `--architecture` is given. what: the option or model that determines the architecture"""
    if architecture is not None:
        raise ConfigError(f"--architecture applies to model FILEs of your own class, not to {what}")


def refuse_darknet_options(args: argparse.Namespace, what: str) -> None:
    """Raises ConfigError if one of `add_darknet_arguments` is given. what: the option that excludes them"""
    extra = [f"--{name}" for name in ("cfg", "weights", "names", "resize", "clip") if vars(args)[name] is not None]
    if extra:
        raise ConfigError(f"{', '.join(extra)} cannot be combined with {what}")


def make_member(member: ZooMember, *, quiet: bool = False) -> Chain:
    """The model, its files downloaded, with progress on standard error unless quiet. Raises DownloadError."""
    for record in member.files:
        with fetching(record.file_name, quiet=quiet) as progress:
            fetch_weights(record, progress=progress, pin=False)  # done by the model
    return member.make()


def means_file(model: str) -> bool:
    """Whether the word is a file rather than the name of a model of the zoo."""
    return model.lower().endswith(_ENDINGS) or pathlib.PurePath(model).name != model or os.path.isfile(model)
