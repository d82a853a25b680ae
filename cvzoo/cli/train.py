"""`cvzoo train`: a network for your own images, without a script."""

import argparse
import contextlib
import dataclasses
import math
import os
import pathlib
import shlex
import sys
from collections.abc import Iterator

from cvzoo.cli.data_check import check_text, fix_command
from cvzoo.cli.main import in_words
from cvzoo.cli.on_device import on_device
from cvzoo.cli.progress import Progress
from cvzoo.cli.result_table import printable
from cvzoo.cli.score_text import class_table
from cvzoo.cli.train_recipe import Chosen, chosen_recipe, listing_text, shown_value, started
from cvzoo.cli.train_resume import check_same_training, data_in, with_stored_options
from cvzoo.cli.train_try import suggest_learning_rate, try_training
from cvzoo.config.switches import using_config
from cvzoo.datasets.doctor.examine_dataset import examine_dataset
from cvzoo.datasets.doctor.fault import Severity
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.create_communicator import create_communicator
from cvzoo.errors.exceptions import ConfigError, CvzooError, DatasetError, FileError
from cvzoo.links.model.thresholds import AbstractThresholds
from cvzoo.reporting.counted import counted
from cvzoo.serializers.model_file import load_model
from cvzoo.training.output_folder import write_text
from cvzoo.training.recipes.check_examples import check_examples
from cvzoo.training.recipes.check_labels import check_labels
from cvzoo.training.recipes.config_file import recipe_to_toml
from cvzoo.training.recipes.recipe import AbstractRecipe, Splits
from cvzoo.training.recipes.training import Training
from cvzoo.training.run.command import RECIPE_FILE
from cvzoo.training.run.data_fingerprint import data_fingerprint, same_data
from cvzoo.training.run.run import check_run_folder

_MEANINGS = {
    "voc": "mAP at IoU 0.5, Pascal VOC's rules",
    "coco": "AP over IoU 0.50:0.95, COCO's rules",
    "oks": "AP of keypoints over OKS 0.50:0.95, COCO's rules",
    "accuracy": "fraction of images whose most probable class is right",
    "mean_class_accuracy": "fraction that is right, mean over classes",
    "miou": "mean intersection over union of the classes",
    "pixel_accuracy": "fraction of labeled pixels whose class is right",
}


def run(args: argparse.Namespace) -> int:
    """0 trained, 1 refused for the data's faults. Raises CvzooError, OSError, or what ends `Trainer.run`."""
    if args.list:
        print(listing_text())
        return 0
    args = with_stored_options(args)
    if args.resume and args.out is None:
        raise ConfigError("--resume needs the folder of a run", hint="cvzoo train --resume DIR")
    if args.recipe is None and args.model is None and args.config is None:
        raise ConfigError(
            "--model must be given for a new run, or --recipe",
            hint="cvzoo train --list shows all recipes; cvzoo train --resume DIR resumes a run",
        )
    chosen = chosen_recipe(args)
    recipe = chosen.recipe
    if args.show_config:
        print(recipe_to_toml(chosen.name, recipe), end="")
        return 0
    missing = [f"--{each}" for each, value in (("data", recipe.data), ("out", args.out or _is_dry(args))) if not value]
    if missing:
        raise ConfigError(
            f"{' and '.join(missing)} must be given for a new run", hint="cvzoo train --resume DIR for an existing one"
        )
    with on_device(args):
        comm = create_communicator()
        if comm.size > 1 and _is_dry(args):
            raise ConfigError("--try and --find-lr run on one process", got=f"{comm.size} processes")
        try:
            device = comm.device  # by NCCL, the GPU of this rank
            with using_config("device", device.name), device, contextlib.nullcontext() if comm.rank == 0 else _silent():
                return _train(args, chosen, comm)
        except (CvzooError, OSError) as error:
            if comm.size > 1:  # the other ranks would wait for this one
                comm.abort(f"cvzoo train: error: {in_words(error)}")
            raise


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Ranks other than the first print nothing but errors."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


def _train(args: argparse.Namespace, chosen: Chosen, comm: AbstractCommunicator) -> int:
    name, recipe = chosen.name, chosen.recipe
    # what is wrong with the options, the folder or the lists is said before minutes are spent on the images
    resume_with, before = "", None
    if not _is_dry(args) and comm.rank == 0:
        resume_with = f"cvzoo train --resume {shlex.quote(args.out)}"
        before = check_run_folder(args.out, resume=args.resume, resume_with=resume_with)
    # the same data, as named from here
    here = dataclasses.replace(recipe, data=data_in(recipe, args.started_in))
    splits = here.splits()
    recipe = recipe.with_splits(splits)
    chosen = chosen._replace(recipe=recipe)
    full = recipe.resolved(len(splits.train))
    data = None
    if before is not None:
        data = {each: data_fingerprint(part) for each, part in (("train", splits.train), ("val", splits.val))}
        check_same_training(args.out, before, full, data)
    stored = {} if before is None else before["data"]
    is_bad = False
    if comm.rank:
        pass
    elif data is not None and all(same_data(stored.get(each, now), now) for each, now in data.items()):
        print("the data have not changed since the run was started, so they are not checked again", file=sys.stderr)
    elif not args.no_check and (repairs := data_repairs(here, splits)):
        print(
            "\n".join(["cvzoo train: the data have errors; repair them with:", *(f"  {each}" for each in repairs)])
            + "\nor train on them as they are with --no-check",
            file=sys.stderr,
        )
        is_bad = True
    if comm.bcast_obj(is_bad):
        return 1
    if before is None:
        check_labels(splits)
    recipe, start = started(chosen, splits.label_names)
    full = recipe.resolved(len(splits.train))
    if args.find_lr:
        return suggest_learning_rate(full, splits, start)
    if args.trial:
        return try_training(full, splits, start, compile=bool(args.compile))
    training = Training(
        full,
        splits,
        args.out,
        resume=args.resume,
        compile=bool(args.compile),
        data=data,
        command=args.command,
        resume_with=resume_with,
        comm=comm,
    )
    if comm.rank:
        training.trainer.run()
        return 0
    write_text(pathlib.Path(args.out, RECIPE_FILE), recipe_to_toml(name, recipe))
    _print_start(full, splits)
    if before is None:
        print(start)
    training.trainer.run()
    best = os.path.join(training.run.out, "best.safetensors")
    if not os.path.isfile(best):
        raise _without_best(training, best)
    _print_scores(training, best)
    return 0


def _without_best(training: Training, best: str) -> CvzooError:
    """Why a training that has ended left no best model."""
    values = [row.get(training.recipe.best, math.nan) for row in training.trainer.get_extension("LogReport").log]
    if any(map(math.isfinite, values)):
        hint = "space on the disk, then --resume with more epochs from the last snapshot, or another folder"
        return FileError(f"{best} could not be written during training, see the messages above", hint=hint)
    return DatasetError(f"{best} was not written: no validation gave a number", hint="is there an object in val?")


def _is_dry(args: argparse.Namespace) -> bool:
    """Whether no run is wanted, only what it would be like."""
    return bool(args.trial or args.find_lr)


def data_repairs(recipe: AbstractRecipe, splits: Splits) -> list[str]:
    """A command for each part of the data with images or annotations in error; prints what is found.

    Raises DatasetError for faults of data of another task than detection, for which there is no such command.
    """
    commands: list[str] = []
    parts = recipe.checked_parts()
    if not parts:
        progress = Progress(sys.stderr, total=len(splits.train) + len(splits.val))
        try:
            check_examples(splits, step=progress.step)
        finally:
            progress.clear()
    for spec in parts:
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


def _print_start(recipe: AbstractRecipe, splits: Splits) -> None:
    names = ", ".join(splits.label_names)
    print(f"{counted(len(splits.train), 'image')} to train on, {len(splits.val)} to validate on; classes: {names}")
    for name, value in recipe.lines():
        chosen = f", here {recipe.n_process}" if (name, value) == ("processes", "auto") else ""
        print(f"  {name}: {shown_value(value)}{chosen}")


def _print_scores(training: Training, best: str) -> None:
    """The table of the best model by the metric that chose it, under the metric's one name, and how to use it."""
    recipe, splits = training.recipe, training.splits
    model = load_model(best)
    thresh = model.score_thresh if isinstance(model, AbstractThresholds) else None
    recipe.for_validation(model)
    evaluator = recipe.evaluator(model, splits)
    scores = evaluator()
    table = recipe.class_table(evaluator.result, splits.label_names)
    print("\n" + class_table(table.rows, table.columns, counted=table.counted))
    value = scores[recipe.best.removeprefix("validation/")]
    print(f"\n{recipe.best}  {value:.6g}  of {best}: {_MEANINGS[recipe.metric]}")
    print(f"\nreport: {os.path.join(training.run.out, 'report.html')}")
    print(f"use it: cvzoo predict IMAGE.jpg --model {shlex.quote(best)} --out FOLDER")
    if thresh is not None:
        print(f"        detections with scores over {thresh:g}; --score-thresh T gives others")
    print(f'    or: model = cvzoo.serializers.load_model("{best}")')
    print(f'        {recipe.usage}(["IMAGE.jpg"])')
