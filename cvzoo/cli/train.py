"""`cvzoo train`: a detector for your own photos, without a script."""

import argparse
import dataclasses
import os
import sys
from collections.abc import Mapping
from types import MappingProxyType

from cvzoo.cli.data_check import check_text
from cvzoo.cli.on_device import add_device_argument
from cvzoo.cli.progress import Progress
from cvzoo.cli.score_text import class_table, summary_text
from cvzoo.datasets.bbox_splits import bbox_splits, split_specs
from cvzoo.datasets.doctor.examine_dataset import examine_dataset
from cvzoo.datasets.doctor.fault import Severity
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.links.model.retinanet.settings import RetinaNetSettings
from cvzoo.serializers.model_file import load_model
from cvzoo.training.recipes.retinanet_recipe import RetinaNetRecipe
from cvzoo.training.recipes.retinanet_training import RetinaNetTraining

# what a user types -> the network; sizes are those of photos of a phone, looked at whole
MODELS: Mapping[str, RetinaNetSettings] = MappingProxyType(
    {
        "retinanet_resnet18_small": RetinaNetSettings(
            n_layer=18, base_channels=32, channels=64, head_depth=2, min_size=480, max_size=800
        ),
        "retinanet_resnet18": RetinaNetSettings(n_layer=18, channels=128, head_depth=3, min_size=480, max_size=800),
        "retinanet_resnet50": RetinaNetSettings(n_layer=50, norm="frozen"),
    }
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Train a detector on your own photos; ends with its scores and the lines to use it."
    parser.add_argument("--model", required=True, choices=MODELS, help="which network")
    parser.add_argument(
        "--data", required=True, metavar="SPEC", help="voc:ROOT, coco:TRAIN.json,VAL.json, yolo:ROOT or sroie:ROOT"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="the run's folder")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument("--pretrained", metavar="NAME|FILE", help="weights to begin with, such as imagenet or a file")
    parser.add_argument("--compile", action="store_true", help="replay passes as graphs: faster, with the same numbers")
    add_device_argument(parser)
    parser.add_argument("--no-check", action="store_true", help="do not examine the data first")
    group = parser.add_argument_group("the recipe")
    group.add_argument("--epochs", type=int, default=50, help="how often each photo is seen (default: %(default)s)")
    group.add_argument("--batch-size", type=int, default=4, help="photos at once (default: %(default)s)")
    group.add_argument("--lr", type=float, default=1e-3, help="step length (default: %(default)s)")
    group.add_argument("--size", type=int, metavar="N", help="short side of a photo, pixels; the long one up to 5/3 N")
    group.add_argument("--seed", type=int, default=0, help="of everything (default: %(default)s)")
    group.add_argument("--processes", type=int, default=2, help="that read photos (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """0 trained, 1 refused for the data's faults. Raises CvzooError, OSError or KeyboardInterrupt."""
    recipe = _recipe(args)
    if not args.no_check and not _are_sound(args.data):
        print("cvzoo train: the data have errors; mend them (cvzoo data check SPEC --fix OUT) or say --no-check",
              file=sys.stderr)  # fmt: skip
        return 1
    splits = bbox_splits(args.data)
    training = RetinaNetTraining(recipe, splits, args.out, resume=args.resume, compile=args.compile)
    names = ", ".join(splits.label_names)
    print(f"{len(splits.train)} photos to learn from, {len(splits.val)} to score on; classes: {names}")
    print("\n".join(f"  {name}: {_shown(value)}" for name, value in recipe.lines()))
    training.trainer.run()
    best = os.path.join(training.run.out, "best.safetensors")
    if not os.path.isfile(best):
        raise DatasetError(f"{best} was not written: no validation gave a number", hint="is there an object in val?")
    _print_scores(training, best)
    return 0


def _recipe(args: argparse.Namespace) -> RetinaNetRecipe:
    settings = MODELS[args.model]
    if args.size is not None:
        if args.size < 64:
            raise ConfigError("--size", expected="64 or more", got=args.size)
        settings = dataclasses.replace(settings, min_size=args.size, max_size=args.size * 5 // 3)
    if args.pretrained is not None and args.pretrained.startswith("imagenet"):
        settings = dataclasses.replace(settings, norm="frozen")
    return RetinaNetRecipe(
        data=args.data,
        settings=settings,
        pretrained=args.pretrained,
        epochs=args.epochs,
        batch_size=args.batch_size,
        lr=args.lr,
        seed=args.seed,
        processes=args.processes,
    )


def _are_sound(text: str) -> bool:
    """Whether no photo and no annotation is in error; prints what is found."""
    sound = True
    for spec in split_specs(text):
        progress = Progress(sys.stderr, total=None)
        try:
            checkup = examine_dataset(spec, step=progress.step)
        finally:
            progress.clear()
        print(check_text(checkup, shown=3), file=sys.stderr)
        sound &= not any(each.severity is Severity.ERROR for each in checkup.findings)
    return sound


def _print_scores(training: RetinaNetTraining, best: str) -> None:
    model = load_model(best)
    with model.using_preset("evaluate"):
        evaluator = training.coco_evaluator(model)
        evaluator()
    result = evaluator.result["coco_eval"]
    names = training.splits.label_names
    rows = [row | {"name": names[row["id"]]} for row in result.per_class()]
    print("\n" + class_table(rows, ("AP", "AP50", "AP75")))
    print("\n" + summary_text(result.summary))
    print(f'\nmodel = cvzoo.serializers.load_model("{best}")')
    print('bboxes, labels, scores = model.predict(["photo.jpg"])')


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
