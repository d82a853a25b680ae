"""`cvzoo train`: train a network on your own images."""

import argparse
from collections.abc import Sequence

from cvzoo.cli.model_options import add_device_argument
from cvzoo.errors.exceptions import ConfigError, FileFormatError
from cvzoo.training.run.command import read_command

MODELS = ("retinanet_resnet18_small", "retinanet_resnet18", "retinanet_resnet50")
# settings of the recipe that are options, too; one that was not given is None, so that --resume can tell
RECIPE_OPTIONS = ("data", "pretrained", "epochs", "batch_size", "lr", "warmup", "seed", "processes", "metric")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Train a network on your own images; ends with its scores and the commands to use it."
    parser.add_argument(
        "--recipe", metavar="NAME|FILE", help="a recipe of --list, or a file of one; needed for a new run"
    )
    parser.add_argument("--config", metavar="FILE.toml|yaml", help="settings of the recipe")
    parser.add_argument("--list", action="store_true", default=None, help="show all recipes and exit")
    parser.add_argument(
        "--show-config", action="store_true", default=None, help="print the recipe with all settings, for --config"
    )
    parser.add_argument(
        "--try",
        dest="trial",
        action="store_true",
        default=None,
        help="20 iterations: seconds each, memory, estimated end; no files are left",
    )
    parser.add_argument(
        "--find-lr",
        action="store_true",
        default=None,
        help="up to 100 updates with rising learning rates, and which one suits; no files are left",
    )
    parser.add_argument("--model", choices=MODELS, help="a recipe of RetinaNet, with random weights")
    parser.add_argument(
        "--data",
        metavar="SPEC",
        help="boxes: voc:ROOT, coco:TRAIN.json,VAL.json, yolo:ROOT or sroie:ROOT; classes: folder:ROOT, cifar10[:DIR], "
        "cifar100[:DIR] or mnist[:DIR]; label maps: folder:ROOT, camvid[:ROOT], cityscapes:ROOT, ade20k[:ROOT] or "
        "voc[:ROOT]; needed for a new run",
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
    parser.add_argument(
        "--pretrained", metavar="NAME|FILE", help="pretrained weights: imagenet ..., a checkpoint, or none"
    )
    parser.add_argument(
        "--compile",
        action="store_true",
        default=None,
        help="compile the network to a graph: faster, the same but for the last bits",
    )
    add_device_argument(parser)
    parser.add_argument("--no-check", action="store_true", default=None, help="do not check the data for faults first")
    group = parser.add_argument_group("the recipe", "without an option: as the recipe has it")
    for option, kind, text in (
        ("epochs", int, "number of epochs"),
        ("batch_size", int, "images in a batch"),
        ("lr", float, "learning rate"),
        ("warmup", int, "updates in which the learning rate rises (default: 300, or a third of a short run)"),
        ("seed", int, "random seed"),
        ("processes", str, "data-loading workers, or auto"),
    ):
        group.add_argument(f"--{option.replace('_', '-')}", type=kind, metavar="N", help=text)
    group.add_argument(
        "--size", type=int, metavar="N", help="size of images, pixels: RetinaNet's short side, a classifier's input"
    )
    group.add_argument(
        "--metric",
        metavar="NAME",
        help="the metric for choosing the best checkpoint (default: coco for coco:, voc for the other boxes)",
    )
    group.add_argument(
        "settings",
        nargs="*",
        metavar="KEY=VALUE",
        help="any setting of --show-config: lr=0.01, model.min_size=320, scales=0.8,1 ...",
    )
    parser.set_defaults(device=None, dtype=None)


class ResumeAction(argparse.Action):
    """`--resume` alone resumes the run in --out; `--resume DIR` that in DIR, with its own options where none is given.

    Sets `resume`; and with DIR also `out`, `command` (the run's Command with what changed) and `started_in` (the folder
    that its paths are relative to); `unread` is the error of a folder without a run, which some ranks may not see.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        namespace.resume = True
        if isinstance(values, str):
            folder = values
            try:
                command = read_command(folder)
            except FileFormatError as error:
                namespace.out, namespace.unread = folder, error
                return
            namespace.unread = None
            words = [word for word in command.arguments_for(folder)[1:] if word != "--resume"]
            if command.module != "cvzoo" or command.arguments[:1] != ("train",):
                raise ConfigError(
                    f"{folder}: this run was not started by cvzoo train", hint="its own script resumes it"
                )
            namespace.stored = folder, command, parser.parse_args(words)
