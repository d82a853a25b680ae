"""What the server asks about recipes, in a process of its own, as it may not import networks.

`python -m cvzoo.studio.worker.recipes` reads one JSON object from standard input and writes one to standard output:
{} lists the recipes; {"recipe": NAME, "data": SPEC, "settings": {name: text}} checks them, and with "preview": true
shows what the training will do, too.
"""

import base64
import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cvzoo.errors.exceptions import ConfigError, CvzooError, DownloadError
from cvzoo.geometry.anchors import cell_anchors
from cvzoo.images.write_image import encode_jpeg
from cvzoo.links.model.architectures import architectures
from cvzoo.links.model.config import field_types, limits_of
from cvzoo.links.model.typed_value import expected_words
from cvzoo.studio.inference.predictions import TASKS
from cvzoo.studio.worker.limits import limit
from cvzoo.studio.worker.parent import end_with_parent
from cvzoo.training.recipes.check_labels import check_labels
from cvzoo.training.recipes.listing import RECIPES, named_recipe
from cvzoo.training.recipes.preview import preview
from cvzoo.training.recipes.recipe import AbstractRecipe, Splits
from cvzoo.training.recipes.settings import setting_value, with_settings
from cvzoo.training.run.plain import plain

_MEMORY = 16 << 30  # of addresses, as what is asked for may be a network of any size
_N_TASK = 256
_WORKERS_PER_CORE, _FEW_WORKERS = 4, 16
_OWN = ("data",)  # which the form has a field of its own for


def listing() -> dict[str, Any]:
    """{"recipes": [...]}: of each name, task, summary, fields: name, help, unit, group, default, expected;
    {"tasks": {name of an architecture: task}, "anchors": {name of a recipe: as `_anchors` has them}}.
    """
    return {
        "anchors": {name: found for name, recipe in RECIPES.items() if (found := _anchors(recipe)) is not None},
        "tasks": {each.name: task for each in architectures() if (task := _task_of(each.model_class)) is not None},
        "recipes": [
            {"name": name, "task": recipe.task, "summary": recipe.summary(), "fields": list(_fields(recipe, ""))}
            for name, recipe in RECIPES.items()
        ],
    }


def _anchors(recipe: AbstractRecipe) -> dict[str, Any] | None:
    """{"sides": (height, width) of each anchor, "min_size", "max_size"} of a pyramid's detector, None of others."""
    config: Any = getattr(recipe, "model", None)
    if not hasattr(config, "anchor_sizes"):
        return None
    sizes = [size for level in config.anchor_sizes for size in level]
    box = cell_anchors(sizes, config.anchor_ratios)
    sides = [list(map(float, each)) for each in box[:, 2:] - box[:, :2]]
    return {"sides": sides, "min_size": config.min_size, "max_size": config.max_size}


def _task_of(model_class: type[Any]) -> str | None:
    return next((task for task, of_task in TASKS.items() if issubclass(model_class, of_task)), None)


def checked(name: str, data: str, settings: Mapping[str, str], *, with_preview: bool = False) -> dict[str, Any]:
    """{"fields": {name: what is wrong}}, empty if a training can start, and {"n_train", "n_val"} then.

    with_preview: "preview", too, as `preview_of` has it
    """
    wrong: dict[str, str] = {}
    try:
        recipe = named_recipe(name)
    except CvzooError as error:
        return {"fields": {"recipe": _sentence(error)}}
    for key, value in settings.items():
        try:
            setting_value(recipe, key, value)
        except CvzooError as error:
            wrong[key] = _sentence(error)
    if not data:
        wrong["data"] = "the data must be named, such as voc:FOLDER"
    if wrong:
        return {"fields": wrong}
    try:
        recipe = with_settings(recipe, {"data": data, **settings})
    except CvzooError as error:
        return {"fields": _wrong_alone(recipe, settings) or {"settings": _sentence(error)}}
    try:
        splits = recipe.splits()
        check_labels(splits)
    except (CvzooError, OSError) as error:
        return {"fields": {"data": _sentence(error)}}
    wrong = _wrong_together(recipe.with_splits(splits), splits, named_recipe(name).pretrained)
    answer = {"fields": wrong, "n_train": len(splits.train), "n_val": len(splits.val)}
    if wrong or not with_preview:
        return answer
    try:
        return answer | {"preview": preview_of(recipe, splits)}
    except CvzooError as error:
        return {"fields": {"settings": _sentence(error)}}


def _wrong_alone(recipe: AbstractRecipe, settings: Mapping[str, str]) -> dict[str, str]:
    """The values that do not fit the recipe's other settings, as they are without the form."""
    wrong: dict[str, str] = {}
    for key, value in settings.items():
        try:
            with_settings(recipe, {key: value})
        except CvzooError as error:
            wrong[key] = _sentence(error)
    return wrong


def _wrong_together(recipe: AbstractRecipe, splits: Splits, usual: str | None) -> dict[str, str]:
    """What the training would end with at its start, by field. usual: the pretrained weights of the named recipe

    Weights that are not in the cache are not downloaded, and usual ones are not read.
    """
    untrained = dataclasses.replace(recipe, pretrained=None)
    parts: list[tuple[str, Callable[[], object]]] = [
        ("processes", lambda: _expect_few(recipe.processes)),
        ("batch_size", lambda: dataclasses.replace(recipe, warmup=None).resolved(len(splits.train))),
        ("warmup", lambda: recipe.resolved(len(splits.train))),
        ("settings", lambda: untrained.build_model(splits.label_names)),
    ]
    if recipe.pretrained not in (None, usual):
        parts.append(("pretrained", lambda: _build_offline(recipe, splits)))
    for field, part in parts:
        try:
            part()
        except DownloadError:
            pass  # the training downloads them
        except MemoryError as error:
            return {field: f"the network does not fit into the memory: {error}"}
        except (CvzooError, OSError) as error:
            return {field: _sentence(error)}
    return {}


def _build_offline(recipe: AbstractRecipe, splits: Splits) -> None:
    """Raises DownloadError for weights that are not in the cache; data sets may be downloaded before and after."""
    before = os.environ.get("CVZOO_OFFLINE", "0")
    os.environ["CVZOO_OFFLINE"] = "1"
    try:
        recipe.build_model(splits.label_names)
    finally:
        os.environ["CVZOO_OFFLINE"] = before


def _expect_few(processes: int | str) -> None:
    most = max(_WORKERS_PER_CORE * (os.cpu_count() or 1), _FEW_WORKERS)
    if isinstance(processes, int) and processes > most:
        raise ConfigError("so many data-loading workers would only wait for each other", expected=f"at most {most}")


def preview_of(recipe: AbstractRecipe, splits: Splits) -> dict[str, Any]:
    """{"sheet": a JPEG as base64, "rates": [[update, learning rate]], "n_update", "reach": of the anchors or None}."""
    found = preview(recipe, splits)
    return {
        "sheet": base64.b64encode(encode_jpeg(found.sheet)).decode(),
        "rates": found.rates,
        "n_update": recipe.n_update(len(splits.train)),
        "reach": found.reach,
    }


def _fields(recipe: Any, prefix: str) -> Iterator[dict[str, Any]]:
    recipe_class: type = type(recipe)
    types = field_types(recipe_class)
    for field in dataclasses.fields(recipe):
        value = getattr(recipe, field.name)
        if dataclasses.is_dataclass(value):
            yield from _fields(value, f"{prefix}{field.name}.")
        elif field.name not in _OWN or prefix:
            yield {
                "name": prefix + field.name,
                "help": field.metadata.get("help") or "",
                "unit": field.metadata.get("unit") or "",
                "group": "model" if prefix else field.metadata.get("group") or "more",
                "default": _text(value),
                "expected": _expected(types[field.name], field),
            }


def _expected(kind: Any, field: Any) -> str:
    try:
        return expected_words(kind, limits_of(field))
    except (KeyError, TypeError, IndexError):
        return ""


def _text(value: object) -> str:
    """A value as `KEY=VALUE` has it."""
    if value is None:
        return "none"
    value = plain(value)
    if isinstance(value, list) and not any(isinstance(each, list | dict) for each in value):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)


def _sentence(error: BaseException) -> str:
    """The lines of an error as one text."""
    return "; ".join(" ".join(line.split()) for line in str(error).splitlines())


def main() -> None:
    """Answers the question on standard input."""
    end_with_parent()
    limit(memory=_MEMORY, n_task=_N_TASK)
    asked = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):  # what is said while images are read is no answer
        answer = _answer(asked) if asked else listing()
    json.dump(answer, sys.stdout)


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    return checked(asked["recipe"], asked["data"], asked["settings"], with_preview=asked.get("preview", False))


if __name__ == "__main__":
    main()
