"""New and resumed hyperparameter searches."""

import dataclasses
import json
import math
import os
import pathlib
from collections.abc import Callable, Mapping
from typing import Any, Literal

from cvzoo.errors.exceptions import ConfigError, FileFormatError, ValueRangeError
from cvzoo.reporting.counted import counted
from cvzoo.training.output_folder import check_output_folder, make_output_folder, write_text
from cvzoo.training.recipes.config_file import read_recipe, recipe_to_toml
from cvzoo.training.recipes.listing import named_recipe
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.settings import with_settings
from cvzoo.training.run.command import CONFIG, RECIPE_FILE
from cvzoo.training.tuning.search import Trial, rung_epochs
from cvzoo.training.tuning.search_space import SYNTAX, read_spaces
from cvzoo.training.tuning.tuning import STATE, Engine, Tuning, TuningSettings
from cvzoo.typing.aliases import FilePath


def new_tuning(
    recipe: str,
    words: Mapping[str, Any],
    out: FilePath,
    *,
    base: AbstractRecipe | None = None,
    method: Literal["halving", "random"] = "halving",
    trials: int | None = None,
    hours: float | None = None,
    processes: int = 1,
    first: int | None = None,
    factor: int = 3,
    seed: int = 0,
    compile: bool = False,
    device: str = "cpu",
    dtype: str = "float32",
    engine: Engine = "processes",
    tell: Callable[[str], None] = print,
) -> Tuning:
    """A hyperparameter search in a new folder, whose `run` trains.

    recipe: name of a listed recipe
    words: search spaces and fixed values of its settings, by name: {"data": "voc:ROOT", "lr": "log:1e-4..1e-1",
        "model.head_depth": [2, 3, 4]}; see `read_space`
    out: the folder
    base: the recipe with other settings already changed; None: the listed one
    method: successive halving, whose trials are paused at rungs of 1 / factor of the epochs and so on; or random search
    trials: maximum number of trials; hours: maximum time in all; one of them must be given
    processes: number of trials trained at the same time; the threads are divided among them
    first: epochs of the first rung; None: a `factor` squared-th of all, but no fewer than the
        warm-up has
    factor: the best 1 / factor of a rung's trials are promoted
    seed: of the trials' settings; the seed of the trainings is a setting of the recipe
    compile, device, dtype: as of `cvzoo train`; tell: takes a line about each event
    engine: what starts trials: processes of this machine, or tasks of Ray

    Raises ConfigError or ValueRangeError for a wrong name, space or budget, or if the folder has a search;
    DatasetError if the data cannot be read.
    """
    check_new_search(out)
    base = named_recipe(recipe) if base is None else base
    fixed, spaces = read_spaces(base, words)
    base = with_settings(base, fixed)
    if not spaces:
        raise ConfigError("there are no settings to search", expected=f"a setting with a search space: KEY={SYNTAX}")
    if not base.data:
        raise ConfigError("the recipe names no data", hint='data="voc:ROOT", or what its task reads')
    rungs = _rungs(base, first, factor) if method == "halving" else (base.epochs,)
    settings = TuningSettings(
        recipe=recipe,
        spaces={name: words[name] for name in spaces},
        rungs=rungs,
        factor=factor,
        seed=seed,
        trials=trials,
        hours=hours,
        processes=processes,
        compile=compile,
        device=device,
        dtype=dtype,
        engine=engine,
        folder=os.path.relpath(os.getcwd(), os.path.realpath(out)),
    )
    tuning = Tuning(out, settings, base, tell=tell)
    make_output_folder(out)
    write_text(pathlib.Path(out, RECIPE_FILE), recipe_to_toml(recipe, base))
    return tuning


def check_new_search(out: FilePath) -> None:
    """Raises ValueRangeError if the folder has a search or a run, OSError if it cannot be written."""
    check_output_folder(out)
    for name, what, how in ((STATE, "search", "tune"), (CONFIG, "run", "train")):
        if pathlib.Path(out, name).exists():
            raise ValueRangeError(
                f"{os.fspath(out)} already has a {what}", hint=f"cvzoo {how} --resume {out}, or another folder"
            )


def _rungs(recipe: AbstractRecipe, first: int | None, factor: int) -> tuple[int, ...]:
    if first is None:
        n_example = len(recipe.splits().train)
        warmup = recipe.resolved(n_example).warmup or 0
        first = max(recipe.epochs // factor**2, math.ceil(warmup * recipe.batch_size / n_example), 1)
    elif not 1 <= first <= recipe.epochs:
        raise ValueRangeError(
            "the first rung does not fit the training", expected=f"1 to {counted(recipe.epochs, 'epoch')}", got=first
        )
    return rung_epochs(recipe.epochs, first=first, factor=factor, every=recipe.validation_interval)


def _trial(tree: Mapping[str, Any]) -> Trial:
    drawn = {name: tuple(each) if isinstance(each, list) else each for name, each in tree["settings"].items()}
    return Trial(**{**tree, "settings": drawn})


def resume_tuning(
    out: FilePath,
    *,
    trials: int | None = None,
    hours: float | None = None,
    processes: int | None = None,
    tell: Callable[[str], None] = print,
) -> Tuning:
    """The search in a folder, whose `run` resumes it.

    trials, hours: new maxima in all, trials and time before included; processes: trials at the same time
    None: as before; tell: takes a line about each event
    Raises FileFormatError if the folder has no search, or a damaged one.
    """
    path = pathlib.Path(out, STATE)
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        settings = TuningSettings(**{**tree["settings"], "rungs": tuple(tree["settings"]["rungs"])})
        made = tuple(_trial(each) for each in tree["trials"])
        seconds = float(tree["seconds"])
    except (FileNotFoundError, NotADirectoryError):
        raise FileFormatError(f"{os.fspath(out)} has no search", expected=STATE) from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FileFormatError(f"{path} is damaged: {error}") from error
    settings = dataclasses.replace(
        settings,
        trials=settings.trials if trials is None else trials,
        hours=settings.hours if hours is None else hours,
        processes=settings.processes if processes is None else processes,
    )
    recipe = read_recipe(pathlib.Path(out, RECIPE_FILE))[1]
    return Tuning(out, settings, recipe, trials=made, seconds=seconds, tell=tell)
