"""`cvzoo tune`: search for the best settings of a training."""

import argparse
import dataclasses
import os
from typing import Any

from cvzoo.backends.threads import thread_count
from cvzoo.cli.train import data_repairs
from cvzoo.cli.train_recipe import Chosen, started
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.reporting.counted import counted
from cvzoo.training.recipes.config_file import read_search_spaces, read_settings
from cvzoo.training.recipes.listing import named_recipe
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.settings import settings_of_words, with_settings
from cvzoo.training.tuning.new_tuning import check_new_search, new_tuning, resume_tuning
from cvzoo.training.tuning.search_space import read_spaces, value_text
from cvzoo.training.tuning.tuning import Tuning

_NEW_ONLY = ("recipe", "config", "data", "out", "method", "first", "factor", "search_seed", "compile", "engine")


def run(args: argparse.Namespace) -> int:
    """0 a trial has a score, 1 none has or the data are in error. Raises CvzooError, OSError, KeyboardInterrupt."""
    if args.resume is not None:
        given = [f"--{name.replace('_', '-')}" for name in _NEW_ONLY if vars(args)[name] is not None]
        given += args.settings
        if given:
            raise ConfigError(
                f"{given[0]} cannot be combined with --resume: the search has settings of its own",
                expected="--trials, --hours or --processes",
            )
        tuning = resume_tuning(args.resume, trials=args.trials, hours=args.hours, processes=args.processes)
        print(f"resumes the search in {args.resume}: {counted(len(tuning.search.trials), 'trial')} so far")
    else:
        tuned = _new(args)
        if tuned is None:
            return 1
        tuning = tuned
    tuning.run()
    return _print_end(tuning)


def _new(args: argparse.Namespace) -> Tuning | None:
    """The search of the options; None if the data are in error."""
    name, recipe, words = _recipe(args)
    missing = [f"--{each}" for each, value in (("data", recipe.data), ("out", args.out)) if not value]
    if missing:
        raise ConfigError(f"{' and '.join(missing)} must be given for a new search")
    if args.trials is None and args.hours is None:
        raise ConfigError("the search has no end", hint="--trials N, --hours H, or both")
    check_new_search(args.out)
    splits = recipe.splits()
    if not args.no_check and (repairs := data_repairs(recipe, splits)):
        print("\n".join(["cvzoo tune: the data have errors; repair them with:", *(f"  {each}" for each in repairs)]))
        return None
    is_searched = "pretrained" in words
    recipe = recipe.with_splits(splits)
    recipe, start = started(Chosen(name, recipe, asks_weights=is_searched or args.asks_weights), splits.label_names)
    tuning = new_tuning(
        name,
        words,
        args.out,
        base=recipe,
        method=args.method or "halving",
        trials=args.trials,
        hours=args.hours,
        processes=args.processes or 1,
        first=args.first,
        factor=args.factor or 3,
        seed=args.search_seed or 0,
        compile=bool(args.compile),
        device=args.device,
        dtype=args.dtype,
        engine=args.engine or "processes",
    )
    _print_start(tuning, start, len(splits.train), len(splits.val))
    return tuning


def _recipe(args: argparse.Namespace) -> tuple[str, AbstractRecipe, dict[str, Any]]:
    """The recipe's name, the recipe with the fixed settings, and the search spaces."""
    name = args.recipe
    values: dict[str, Any] = {}
    words: dict[str, Any] = {}
    if args.config is not None:
        own, values = read_settings(args.config)
        name = own if name is None else name
        words = read_search_spaces(args.config)
    if name is None:
        raise ConfigError("--recipe must be given for a new search", hint="cvzoo train --list shows all recipes")
    recipe = with_settings(named_recipe(name), values)
    words |= settings_of_words(args.settings)
    fixed, searched = read_spaces(recipe, words)
    if args.data is not None:
        fixed["data"] = args.data
    given = {**values, **fixed}
    args.asks_weights = "pretrained" in given
    recipe = with_settings(named_recipe(name), given)
    if "processes" not in given and (args.processes or 1) > 1:
        # data-loading workers of all trials together are no more than cores
        most = max(thread_count()[0] // args.processes - 1, 0)
        recipe = dataclasses.replace(recipe, processes=min(recipe.n_process, most))
    return name, recipe, {each: words[each] for each in searched}


def _print_start(tuning: Tuning, start: str, n_train: int, n_val: int) -> None:
    settings = tuning.settings
    print(f"{counted(n_train, 'image')} to train on, {n_val} to validate on; each trial {start}")
    for name, space in tuning.search.spaces.items():
        print(f"  {name}: {space}")
    rungs = ", ".join(map(str, settings.rungs))
    how = "random search" if len(settings.rungs) == 1 else f"successive halving by {settings.factor}, rungs at epochs"
    ends = [] if settings.trials is None else [counted(settings.trials, "trial")]
    ends += [] if settings.hours is None else [counted(settings.hours, "hour", spec="g")]
    print(f"{how} {rungs}; {tuning.recipe.best}; at most {' and '.join(ends)}; processes: {settings.processes}")
    print(f"resume it with: cvzoo tune --resume {os.fspath(tuning.out)}")


def _print_end(tuning: Tuning) -> int:
    """The best trials, the reason of an early end, and the commands to use the best."""
    search, best = tuning.search, tuning.search.best
    if tuning.stopped:
        print(f"stopped: {tuning.stopped}")
    if best is None:
        raise DatasetError("no trial has a score", hint=f"{os.path.join(tuning.out, 'trials.csv')} has the reasons")
    ranked = sorted((each for each in search.trials if each.scores), key=lambda each: (-each.score, each.number))
    print(f"\n{'trial':>5}  {tuning.recipe.best:>20}  {'epochs':>6}  settings")
    for trial in ranked[:10]:
        words = "  ".join(f"{name}={value_text(value)}" for name, value in trial.settings.items())
        print(f"{trial.number:>5}  {trial.score:>20.4g}  {trial.epochs:>6g}  {words}")
    n_failed = sum(not each.scores for each in search.trials)
    print(counted(len(search.trials), "trial") + (f", {n_failed} without a score" if n_failed else ""))
    print(f"\nreport: {os.path.join(tuning.out, 'report.html')}")
    for purpose, command in tuning.commands():
        print(f"{purpose}: {command}")
    return 0
