"""The command line of training scripts: a recipe, its settings, and the run's folder."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from cvzoo.errors.exceptions import ConfigError
from cvzoo.training.recipes.listing import named_recipe
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.settings import settings_of_words, with_settings

Recipe = TypeVar("Recipe", bound=AbstractRecipe)


def script_options(
    description: str | None,
    kind: Callable[..., Recipe],
    name: str,
    settings: Mapping[str, Any] | None = None,
    *,
    arguments: Sequence[str] | None = None,
) -> tuple[Recipe, str, bool]:
    """The recipe of a script's command line, the run's folder, and whether the run in it is resumed.

    >>> recipe, out, resume = script_options(__doc__, SSDRecipe, "ssd300", {"epochs": 100})

    description: of the script, its `__doc__`, shown verbatim by --help
    kind: the class of the recipe; name: of the listed recipe to start from, unless --recipe names another one
    settings: the script's own, by name, such as "model.min_size"; those of the command line (--data SPEC, KEY=VALUE)
        prevail
    arguments: None for those of this process
    Raises ConfigError for an unknown name or setting, or a recipe of another class, ValueRangeError for a value out of
    its range.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default=name, metavar="NAME", help="of `cvzoo train --list` (default: %(default)s)")
    parser.add_argument("--data", required=True, metavar="SPEC", help="as for `cvzoo train`, such as voc:ROOT")
    parser.add_argument("--out", required=True, metavar="DIR", help="the run's folder")
    parser.add_argument("--resume", action="store_true", help="resume the run in the folder")
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="settings of `cvzoo train --show-config`")
    args = parser.parse_intermixed_args(arguments)  # settings may stand between options
    recipe = named_recipe(args.recipe)
    values = {**(settings or {}), "data": args.data, **settings_of_words(args.settings)}
    changed = with_settings(recipe, values)
    recipe_class = cast(type[Recipe], kind)  # type[...] would refuse abstract classes
    if not isinstance(changed, recipe_class):
        raise ConfigError(
            f"{args.recipe} is no recipe of this script", expected=recipe_class.__name__, got=type(changed).__name__
        )
    return changed, args.out, args.resume
