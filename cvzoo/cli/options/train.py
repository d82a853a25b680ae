"""`cvzoo train`: train a detector on your own images."""

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cvzoo.cli.model_options import add_device_argument
from cvzoo.errors.exceptions import ConfigError
from cvzoo.links.model.retinanet.config import RetinaNetConfig
from cvzoo.training.recipes.retinanet_recipe import METRICS, RetinaNetRecipe
from cvzoo.training.run.command import read_command

# --model -> config; the sizes suit images of phones, without cropping
MODELS: Mapping[str, RetinaNetConfig] = MappingProxyType(
    {
        "retinanet_resnet18_small": RetinaNetConfig(
            n_layer=18, base_channels=32, channels=64, head_depth=2, min_size=480, max_size=800
        ),
        "retinanet_resnet18": RetinaNetConfig(n_layer=18, channels=128, head_depth=3, min_size=480, max_size=800),
        "retinanet_resnet50": RetinaNetConfig(n_layer=50, norm="frozen"),
    }
)
# defaults that the recipe has; an option that was not given is None, so that --resume can tell
RECIPE_DEFAULTS = {field.name: field.default for field in dataclasses.fields(RetinaNetRecipe)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Train a detector on your own images; ends with its scores and the commands to use it."
    parser.add_argument("--model", choices=MODELS, help="which network; needed for a new run")
    parser.add_argument(
        "--data",
        metavar="SPEC",
        help="voc:ROOT, coco:TRAIN.json,VAL.json, yolo:ROOT or sroie:ROOT; needed for a new run",
    )
    parser.add_argument("--out", metavar="DIR", help="the run's folder; needed for a new run")
    parser.add_argument(
        "--resume",
        action=ResumeAction,
        nargs="?",
        metavar="DIR",
        default=False,
        help="resume the run in DIR with its own options, or without DIR the one in --out",
    )
    parser.add_argument("--pretrained", metavar="NAME|FILE", help="pretrained weights: imagenet ... or a checkpoint")
    parser.add_argument(
        "--compile", action="store_true", default=None, help="compile the network to a graph: faster, same results"
    )
    add_device_argument(parser)
    parser.add_argument("--no-check", action="store_true", default=None, help="do not check the data for faults first")
    group = parser.add_argument_group("the recipe")
    for option, kind, text in (
        ("epochs", int, "number of epochs"),
        ("batch_size", int, "images in a batch"),
        ("lr", float, "learning rate"),
        ("warmup", int, "updates in which the learning rate rises (default: 300, or a third of a short run)"),
        ("seed", int, "random seed"),
        ("processes", int, "data-loading workers"),
    ):
        more = "" if RECIPE_DEFAULTS[option] is None else f" (default: {RECIPE_DEFAULTS[option]})"
        group.add_argument(f"--{option.replace('_', '-')}", type=kind, metavar="N", help=text + more)
    group.add_argument("--size", type=int, metavar="N", help="short side of an image, pixels; the long one up to 5/3 N")
    group.add_argument(
        "--metric",
        choices=METRICS,
        help="the metric for choosing the best checkpoint (default: coco for coco:, voc for the rest)",
    )
    parser.set_defaults(device=None, dtype=None)


class ResumeAction(argparse.Action):
    """`--resume` alone resumes the run in --out; `--resume DIR` that in DIR, with its own options where none is given.

    Sets `resume`; and with DIR also `out`, `command` (the run's Command with what changed) and `started_in` (the folder
    that its paths are relative to).
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        namespace.resume = True
        if isinstance(values, str):
            folder = values
            command = read_command(folder)
            words = [word for word in command.arguments_for(folder)[1:] if word != "--resume"]
            if command.module != "cvzoo" or command.arguments[:1] != ("train",):
                raise ConfigError(
                    f"{folder}: this run was not started by cvzoo train", hint="its own script resumes it"
                )
            namespace.stored = folder, command, parser.parse_args(words)
