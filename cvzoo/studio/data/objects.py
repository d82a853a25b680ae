"""The annotated objects of an image as JSON: what a request may have, and their canonical text."""

import json
import math
from collections.abc import Collection
from typing import Any

from cvzoo.studio.problems import Problem

MAX_OBJECTS = 5000
_MAX_POINTS = 200_000  # numbers of all polygons of an image
_FAR = 1e6  # pixels
_KEYS = {"id", "class", "box", "polygons", "rle", "points", "extra"}
MAX_TEXT = 100_000


def checked_objects(objects: list[Any], classes: Collection[str], task: str) -> list[dict[str, Any]]:
    """The objects, if an image of this task may have them. Raises Problem 422 that says what is wrong with which."""
    if len(objects) > MAX_OBJECTS:
        raise Problem(422, f"the image has {len(objects)} objects", expected=f"at most {MAX_OBJECTS}")
    if task == "classes" and len(objects) > 1:
        raise Problem(422, "the image has several classes", expected="at most one", got=len(objects).__str__())
    ids = set()
    n_number = 0
    for i, each in enumerate(objects):
        trouble = _trouble(each, classes, task)
        if trouble is None and each["id"] in ids:
            trouble = "has the id of another object"
        if trouble is not None:
            raise Problem(422, f"object {i} {trouble}", fields={f"objects.{i}": trouble})
        ids.add(each["id"])
        n_number += sum(map(len, each.get("polygons", ()))) + len(each.get("points", ()))
    if n_number > _MAX_POINTS:
        raise Problem(422, "the polygons have too many corners", expected=f"at most {_MAX_POINTS // 2}")
    return objects


def _trouble(each: Any, classes: Collection[str], task: str) -> str | None:
    if not isinstance(each, dict) or not set(each) <= _KEYS or not {"id", "class"} <= set(each):
        return f"has other keys than {', '.join(sorted(_KEYS))}"
    if not isinstance(each["id"], str) or not 1 <= len(each["id"]) <= 40:
        return "has no id of at most 40 letters"
    if each["class"] not in classes:
        return "has a class that the data set does not have"
    if (task == "boxes") is not ("box" in each):
        return "has no box" if task == "boxes" else "has a box, but classes are of whole images"
    if "box" in each and not _are_numbers(each["box"], 4):
        return "has a box that is not four finite numbers"
    polygons = each.get("polygons", [])
    if not isinstance(polygons, list) or not all(_are_numbers(polygon) for polygon in polygons):
        return "has polygons that are not lists of finite numbers"
    if not _are_numbers(each.get("points", [])):
        return "has points that are not finite numbers"
    for key in ("rle", "extra"):
        if not isinstance(each.get(key, {}), dict) or len(json.dumps(each.get(key, {}))) > MAX_TEXT:
            return f"has a malformed {key}"
    return None


def _are_numbers(values: Any, n: int | None = None) -> bool:
    return (
        isinstance(values, list)
        and (n is None or len(values) == n)
        and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        and all(math.isfinite(value) and abs(value) < _FAR for value in values)
    )


def text_of(objects: list[dict[str, Any]]) -> str:
    """The objects as they are stored."""
    return json.dumps(objects, allow_nan=False, separators=(",", ":"))


def content_of(objects: list[dict[str, Any]]) -> str:
    """The objects without their ids, which say nothing about the image: equal content has equal text."""
    plain = [{key: value for key, value in each.items() if key != "id"} for each in objects]
    return json.dumps(plain, allow_nan=False, separators=(",", ":"), sort_keys=True)
