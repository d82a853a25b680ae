"""`cvzoo train`: a detector for your own images, without a script."""

import argparse
import dataclasses
import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from cvzoo.cli.data_check import check_text, fix_command
from cvzoo.cli.on_device import on_device
from cvzoo.cli.options.train import MODELS, RECIPE_DEFAULTS
from cvzoo.cli.progress import Progress
from cvzoo.cli.result_table import printable
from cvzoo.cli.score_text import class_table
from cvzoo.cli.train_resume import check_same_training, spec_in, with_stored_options
from cvzoo.datasets.bbox_splits import BboxSplits, bbox_splits, split_specs
from cvzoo.datasets.doctor.examine_dataset import examine_dataset
from cvzoo.datasets.doctor.fault import Severity
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.serializers.model_file import load_model
from cvzoo.training.recipes.retinanet_recipe import RetinaNetRecipe
from cvzoo.training.recipes.retinanet_training import RetinaNetTraining
from cvzoo.training.run.data_fingerprint import data_fingerprint, same_data
from cvzoo.training.run.plain import plain
from cvzoo.training.run.run import check_run_folder

_MEANINGS = {"voc": "mAP at IoU 0.5, Pascal VOC's rules", "coco": "AP over IoU 0.50:0.95, COCO's rules"}


def run(args: argparse.Namespace) -> int:
    """0 trained, 1 refused for the data's faults. Raises CvzooError, OSError, or what ends `Trainer.run`."""
    args = with_stored_options(args)
    missing = [f"--{name}" for name in ("model", "data", "out") if getattr(args, name) is None]
    if missing and args.resume:
        raise ConfigError("--resume needs the folder of a run", hint="cvzoo train --resume DIR")
    if missing:
        raise ConfigError(
            f"{' and '.join(missing)} must be given for a new run", hint="cvzoo train --resume DIR for an existing one"
        )
    with on_device(args):
        return _train(args)


def _train(args: argparse.Namespace) -> int:
    # what is wrong with the options, the folder or the lists is said before minutes are spent on the images
    recipe = _recipe(args)
    resume_with = f"cvzoo train --resume {shlex.quote(args.out)}"
    before = check_run_folder(args.out, resume=args.resume, resume_with=resume_with)
    spec = spec_in(args.data, args.started_in)
    splits = bbox_splits(spec)
    recipe = recipe.resolved(len(splits.train))
    data = None
    if before is not None:
        data = {name: data_fingerprint(each) for name, each in (("train", splits.train), ("val", splits.val))}
        check_same_training(args.out, before, plain(recipe), data)
    stored = {} if before is None else before["data"]
    if data is not None and all(same_data(stored.get(name, each), each) for name, each in data.items()):
        print("the data have not changed since the run was started, so they are not checked again", file=sys.stderr)
    elif not args.no_check and (repairs := _repairs(spec)):
        print(
            "\n".join(["cvzoo train: the data have errors; repair them with:", *(f"  {each}" for each in repairs)])
            + "\nor train on them as they are with --no-check",
            file=sys.stderr,
        )
        return 1
    training = RetinaNetTraining(
        recipe,
        splits,
        args.out,
        resume=args.resume,
        compile=bool(args.compile),
        data=data,
        command=args.command,
        resume_with=resume_with,
    )
    _print_start(recipe, splits)
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
            raise ConfigError("--size is too small", expected="64 or more", got=args.size)
        settings = dataclasses.replace(settings, min_size=args.size, max_size=args.size * 5 // 3)
    pretrained = args.pretrained
    if pretrained is not None and pretrained.startswith("imagenet"):
        settings = dataclasses.replace(settings, norm="frozen")
    elif pretrained is not None and args.started_in is not None:
        there = os.path.join(args.started_in, pretrained)
        pretrained = there if os.path.isfile(there) else pretrained
    given = {name: vars(args)[name] for name in RECIPE_DEFAULTS if vars(args).get(name) is not None}
    metric = args.metric or ("coco" if all(part.kind == "coco" for part in _parts(args)) else "voc")
    return RetinaNetRecipe(**{**given, "settings": settings, "pretrained": pretrained, "metric": metric})


def _parts(args: argparse.Namespace) -> tuple[Any, ...]:
    return split_specs(spec_in(args.data, args.started_in))


def _repairs(text: str) -> list[str]:
    """A command for each part of the data with images or annotations in error; prints what is found."""
    commands = []
    for spec in split_specs(text):
        progress = Progress(sys.stderr, total=None)
        try:
            checkup = examine_dataset(spec, step=progress.step)
        finally:
            progress.clear()
        in_error = any(each.severity is Severity.ERROR for each in checkup.findings)
        print(check_text(checkup, shown=3, suggest=not in_error), file=sys.stderr)
        if in_error:
            commands.append(printable(fix_command(spec)))
    return commands


def _print_start(recipe: RetinaNetRecipe, splits: BboxSplits) -> None:
    names = ", ".join(splits.label_names)
    print(f"{len(splits.train)} images to train on, {len(splits.val)} to validate on; classes: {names}")
    print("\n".join(f"  {name}: {_shown(value)}" for name, value in recipe.lines()))


def _print_scores(training: RetinaNetTraining, best: str) -> None:
    """The table of the best model by the metric that chose it, under the metric's one name, and how to use it."""
    model = load_model(best)
    with model.using_preset("evaluate"):
        evaluator = training.evaluator(model)
        scores = evaluator()
    key = training.recipe.best
    print("\n" + class_table(_class_rows(evaluator.result, training.splits.label_names), ("AP",)))
    value = scores[key.removeprefix("validation/")]
    print(f"\n{key}  {value:.6g}  of {best}: {_MEANINGS[training.recipe.metric]}")
    print(f"\nreport: {os.path.join(training.run.out, 'report.html')}")
    print(f"use it: cvzoo predict IMAGE.jpg --model {shlex.quote(best)} --out FOLDER")
    print(f'    or: model = cvzoo.serializers.load_model("{best}")')
    print('        bboxes, labels, scores = model.predict(["IMAGE.jpg"])')


def _class_rows(result: Any, label_names: tuple[str, ...]) -> list[dict[str, Any]]:
    """name, n_objects and AP of each class, of VOC's result or COCO's."""
    if isinstance(result, Mapping):
        return [row | {"name": label_names[row["id"]]} for row in result["coco_eval"].per_class()]
    rows = zip(label_names, result.n_positive, result.ap)
    return [{"name": name, "n_objects": int(n), "AP": float(ap)} for name, n, ap in rows]


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
