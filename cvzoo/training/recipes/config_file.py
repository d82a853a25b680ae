"""Files of recipes: TOML or YAML with settings that differ from a listed recipe's."""

import dataclasses
import importlib
import json
import pathlib
import sys
from collections.abc import Mapping
from typing import Any

from cvzoo.errors.exceptions import ConfigError, FileFormatError, MissingExtraError
from cvzoo.training.recipes.listing import named_recipe
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.settings import NONE, with_settings
from cvzoo.typing.aliases import FilePath

NAME = "recipe"  # the key of a file that names the listed recipe
TUNE = "tune"  # the table of search spaces
_TOML, _YAML = (".toml",), (".yaml", ".yml")


def is_recipe_file(text: str) -> bool:
    """Whether a word of the command line is a file of a recipe, and not a name."""
    return pathlib.PurePath(text).suffix.lower() in (*_TOML, *_YAML)


def read_settings(path: FilePath) -> tuple[str | None, dict[str, Any]]:
    """The name of the listed recipe that a file begins from, None without one, and its settings by name.

    path: .toml, .yaml or .yml; its key "recipe" is the name, all others are settings, of the network in [model];
        [tune], see `read_search_spaces`, is left out
    Raises ConfigError for another kind of file, FileFormatError for one that cannot be read, MissingExtraError if a
    package is needed and missing, OSError if there is no such file.
    """
    tree = _read(pathlib.Path(path))
    name = tree.pop(NAME, None)
    tree.pop(TUNE, None)
    if not (name is None or isinstance(name, str)):
        raise ConfigError(f"{path}: {NAME} must be the name of a listed recipe", got=repr(name)[:80])
    return name, _flat(tree)


def read_search_spaces(path: FilePath) -> dict[str, Any]:
    """The search spaces in [tune] of a recipe's file, by the settings' names. Raises as `read_settings`."""
    tree = _read(pathlib.Path(path)).get(TUNE, {})
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{path}: [{TUNE}] must have search spaces by name", got=repr(tree)[:80])
    return _flat(tree)


def read_recipe(path: FilePath) -> tuple[str, AbstractRecipe]:
    """The name of the listed recipe that a file begins from, and the recipe with the file's settings.

    Raises ConfigError for an unknown name or setting, ValueRangeError for a value out of range, and what
    `read_settings` raises.
    """
    name, values = read_settings(path)
    if name is None:
        raise ConfigError(f"{path} names no recipe", expected=f'a line such as {NAME} = "retinanet_resnet18_small"')
    return name, with_settings(named_recipe(name), values)


def recipe_to_toml(name: str, recipe: AbstractRecipe) -> str:
    """All settings as TOML, which `read_recipe` reads back to the same recipe. name: of the listed recipe"""
    lines = [f"{NAME} = {json.dumps(name)}"]
    nested = []
    for field in dataclasses.fields(recipe):
        value = getattr(recipe, field.name)
        if dataclasses.is_dataclass(value):
            nested.append(field.name)
        else:
            lines.append(_line(field, value))
    for outer in nested:
        config = getattr(recipe, outer)
        lines += [
            "",
            f"[{outer}]",
            *(_line(field, getattr(config, field.name)) for field in dataclasses.fields(config)),
        ]
    return "\n".join(lines) + "\n"


def _line(field: dataclasses.Field[Any], value: object) -> str:
    unit = field.metadata.get("unit")
    comment = field.metadata.get("help", "") + (f" [{unit}]" if unit else "")
    return f"{field.name} = {_toml(value)}  # {comment}"


def _toml(value: object) -> str:
    if value is None:
        return json.dumps(NONE)  # TOML has no null
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {_toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def _read(path: pathlib.Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is no text in UTF-8", got=error) from error
    suffix = path.suffix.lower()
    if suffix in _TOML:
        toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
        try:
            tree = toml.loads(text)
        except ValueError as error:
            raise FileFormatError(f"{path} is no TOML: {error}") from error
    elif suffix in _YAML:
        tree = _yaml(path, text)
    else:
        raise ConfigError(f"{path} is no file of a recipe", expected=".toml, .yaml or .yml")
    if not isinstance(tree, dict):
        raise FileFormatError(f"{path} has no settings by name")
    return tree


def _yaml(path: pathlib.Path, text: str) -> Any:
    try:
        yaml = importlib.import_module("yaml")
    except ImportError as error:
        raise MissingExtraError(
            f"{path}: reading YAML needs PyYAML", hint="pip install pyyaml, or write TOML"
        ) from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise FileFormatError(f"{path} is no YAML: {error}") from error


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            values |= _flat(value, f"{prefix}{name}.")
        else:
            values[f"{prefix}{name}"] = value
    return values
