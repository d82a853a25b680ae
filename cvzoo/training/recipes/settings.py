"""Changes of a recipe's settings by name, as command lines and files have them."""

import dataclasses
import difflib
import json
import typing
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any

from cvzoo.errors.exceptions import ConfigError, ValueRangeError
from cvzoo.links.model.config import ModelConfig, field_types, limits_of
from cvzoo.links.model.typed_value import expected_words, typed_value
from cvzoo.training.recipes.recipe import AbstractRecipe

NONE = "none"  # how None is written


def setting_names(config: ModelConfig) -> list[str]:
    """The names of all settings of a recipe or a config, those of nested configs as "model.min_size"."""
    names = []
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            names += [f"{field.name}.{name}" for name in setting_names(value)]
        else:
            names.append(field.name)
    return names


def with_settings(recipe: AbstractRecipe, values: Mapping[str, Any]) -> AbstractRecipe:
    """The recipe with other values.

    values: by name, "lr" or "model.min_size"; a text is read as the setting's type: "0.8,0.9", "none", "true"
    Settings that follow from data and from pretrained weights are set first, so that what is named prevails.
    Raises ConfigError for an unknown name, with the nearest one; ValueRangeError for a value of another type or out of
    its range.
    """
    known = setting_names(recipe)
    values = _gathered(recipe, values)
    for name in values:
        if name not in known:
            raise ConfigError(f"the recipe has no setting {name!r}", hint=_nearest(name, recipe))
    if "data" in values:
        recipe = recipe.with_data(_value(recipe, "data", values["data"]))
    if "pretrained" in values:
        recipe = recipe.with_pretrained(_value(recipe, "pretrained", values["pretrained"]))
    changed: AbstractRecipe = _replaced(recipe, values)
    return changed


def setting_value(recipe: AbstractRecipe, name: str, value: Any) -> Any:
    """The value of one setting, read and checked by its type and range as `with_settings` does.

    Raises ConfigError for an unknown name, with the nearest one; ValueRangeError for an invalid value.
    """
    ((own, value),) = _gathered(recipe, {name: value}).items()
    if own not in setting_names(recipe):
        raise ConfigError(f"the recipe has no setting {name!r}", hint=_nearest(name, recipe))
    config: ModelConfig = recipe
    *outer, last = own.split(".")
    for each in outer:
        config = getattr(config, each)
    typed = _value(config, last, value)
    return typed if own == name else typed[name.partition(".")[2]]


def settings_of_words(words: Iterable[str]) -> dict[str, str]:
    """name -> text of words KEY=VALUE. Raises ConfigError for another word."""
    settings = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise ConfigError(f"{word!r} is no setting of the recipe", expected="KEY=VALUE, such as lr=0.01")
        settings[name.strip()] = text.strip()
    return settings


def _gathered(recipe: AbstractRecipe, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with those of a setting that is a mapping, "layer_lr.extractor", under its own name."""
    recipe_class: type = type(recipe)
    types = field_types(recipe_class)
    settings: dict[str, Any] = {}
    for name, value in values.items():
        outer, dot, inner = name.partition(".")
        if dot and any(_is_mapping(kind) for kind in _kinds(types.get(outer))):
            settings[outer] = {**(getattr(recipe, outer) or {}), **settings.get(outer, {}), inner: value}
        else:
            settings[name] = value
    return settings


def _nearest(name: str, recipe: AbstractRecipe) -> str:
    known = setting_names(recipe)
    meanings = {field.name: field.metadata.get("help", "") for field in dataclasses.fields(recipe)}
    inner = [each for each in known if each.rpartition(".")[2] == name]
    near = inner or difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    near = near or [each for each in known if name in each][:1]
    # a usual long name: learning_rate for lr
    near = near or [each for each, words in meanings.items() if words.startswith(name.replace("_", " "))][:1]
    return f"did you mean {near[0]}?" if near else "cvzoo train --show-config lists them"


def _replaced(config: ModelConfig, values: Mapping[str, Any]) -> Any:
    own = {name: _value(config, name, value) for name, value in values.items() if "." not in name}
    nested: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        outer, dot, inner = name.partition(".")
        if dot:
            nested.setdefault(outer, {})[inner] = value
    for name, inner_values in nested.items():
        own[name] = _replaced(getattr(config, name), inner_values)
    return dataclasses.replace(config, **own) if own else config


def _value(config: ModelConfig, name: str, value: Any) -> Any:
    (field,) = [each for each in dataclasses.fields(config) if each.name == name]
    config_class: type = type(config)
    kind, limits = field_types(config_class)[name], limits_of(field)
    for candidate in _readings(kind, value):
        try:
            return typed_value(kind, candidate, limits)
        except (TypeError, ValueError, OverflowError):
            continue
    raise ValueRangeError(
        f"{name} is invalid: {str(value)[:80]}", expected=expected_words(kind, limits), got=str(value)[:80]
    )


def _readings(kind: Any, value: Any) -> list[Any]:
    """The possible interpretations of a text: a number, a list, or None, depending on the type."""
    takes_none = type(None) in _kinds(kind)
    if isinstance(value, Mapping):
        return [{name: _number(each) for name, each in value.items()}]
    if not isinstance(value, str):
        return [value]
    if value.lower() in (NONE, "null") and takes_none:
        return [None]
    readings: list[Any] = [value]
    for text in (value, value.lower(), f"[{value}]"):
        try:
            readings.append(json.loads(text))
        except ValueError:
            continue
    try:
        readings.append(float(value))  # 1e-3 is JSON, .5 is not
    except ValueError:
        pass
    if value:
        readings.append([each.strip() for each in value.split(",")])
    return readings


def _is_mapping(kind: object) -> bool:
    origin = typing.get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _number(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _kinds(kind: Any) -> tuple[Any, ...]:
    is_union = typing.get_origin(kind) in (typing.Union, UnionType)
    return typing.get_args(kind) if is_union else (kind,)
