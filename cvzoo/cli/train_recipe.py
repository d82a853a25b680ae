"""The recipe of `cvzoo train`: a listed one or a file's, with the settings of the command line."""

import argparse
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from cvzoo.cli.options.train import RECIPE_OPTIONS
from cvzoo.errors.exceptions import ConfigError, DownloadError
from cvzoo.training.recipes.config_file import is_recipe_file, read_settings
from cvzoo.training.recipes.listing import RECIPES, named_recipe
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.retinanet_recipe import UNTRAINED
from cvzoo.training.recipes.settings import settings_of_words, with_settings


class Chosen(NamedTuple):
    """name: of the listed recipe; recipe: with all settings; asks_weights: whether the user named its weights."""

    name: str
    recipe: AbstractRecipe
    asks_weights: bool


def chosen_recipe(args: argparse.Namespace) -> Chosen:
    """The recipe with all settings of the command line and of its files. Raises ConfigError, ValueRangeError, OSError.

    `--model` has random weights where none are named.
    """
    words = settings_of_words(args.settings)
    name, values = _name_and_file(args)
    recipe = UNTRAINED[name] if args.model is not None and name in UNTRAINED else named_recipe(name)
    values |= {key: vars(args)[key] for key in RECIPE_OPTIONS if vars(args)[key] is not None} | words
    pretrained = values.get("pretrained")
    if pretrained is not None and args.started_in is not None:
        there = os.path.join(args.started_in, pretrained)
        values["pretrained"] = there if os.path.isfile(there) else pretrained
    recipe = with_settings(recipe, values)
    if args.size is not None:
        own = {key: values[key] for key in words if key not in ("data", "pretrained")}
        recipe = with_settings(recipe.with_size(args.size), own)
    return Chosen(name, recipe, asks_weights="pretrained" in values)


def started(chosen: Chosen, label_names: Sequence[str]) -> tuple[AbstractRecipe, str]:
    """The recipe with pretrained weights that can be had, and a line that says which.

    A recipe's own weights are left out if they cannot be fetched; those that the user named are an error then.
    """
    recipe = chosen.recipe
    if recipe.pretrained is None:
        return recipe, "starts from random weights"
    if not chosen.asks_weights:
        try:
            recipe.build_model(label_names)
        except DownloadError as error:
            why = str(error).partition("\n")[0]
            how = "pretrained=FILE takes a file that you have, pretrained=none does not try"
            return recipe.with_pretrained(None), f"starts from random weights, not {recipe.pretrained}: {why}; {how}"
    return recipe, f"starts from pretrained weights: {recipe.pretrained}"


def _name_and_file(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The name of the listed recipe, and the settings of files."""
    name = args.recipe or args.model
    values: dict[str, Any] = {}
    if args.recipe is not None and args.model not in (None, args.recipe):
        raise ConfigError("--recipe and --model are two names of one option", expected="one of them")
    files = [args.config] if name is None or not is_recipe_file(name) else [name, args.config]
    name = None if name in files else name
    for path in filter(None, files):
        own, more = read_settings(path)
        values |= more
        name = own if name is None else name
    if name is None:
        hint = "cvzoo train --list shows all recipes"
        said = ConfigError(f"{args.config} names no recipe", hint=hint) if args.config else None
        raise said or ConfigError("--recipe must be given for a new run", hint=hint)
    return name, values


def listing_text() -> str:
    """The listed recipes: a line each, with their task and network."""
    rows = [(name, recipe.task, recipe.summary()) for name, recipe in RECIPES.items()]
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    return "\n".join(f"{name:<{widths[0]}}  {task:<{widths[1]}}  {text}" for name, task, text in rows)


def shown_value(value: object) -> str:
    """A setting for printing; of a text of several lines only how many."""
    if isinstance(value, str) and "\n" in value:
        return f"{value.count(chr(10))} lines"
    return ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
