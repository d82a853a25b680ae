"""The annotated objects of an image as JSON: what a request may have."""

import json
import math
import re
from collections.abc import Collection
from typing import Any

from cvzoo import geometry
from cvzoo.errors.exceptions import CvzooError
from cvzoo.studio.data.rows import MAX_TEXT
from cvzoo.studio.problems import Problem
from cvzoo.typing.plain import Size

MAX_OBJECTS = 5000
_MAX_CORNERS = 100_000  # of all polygons of an image
_MAX_OF_ONE = 10_000  # corners of a polygon
_FAR = 1e6  # pixels
_KEYS = {"id", "class", "box", "polygons", "rle", "points", "extra"}
_MAX_TRANSCRIPTION = 2000
_HALF = re.compile("[\ud800-\udfff]")  # a surrogate without its other half, which no file in UTF-8 can have


def checked_objects(objects: list[Any], classes: Collection[str], task: str, size: Size) -> list[dict[str, Any]]:
    """The objects, if an image of this task and size (H, W) may have them.

    What is outside of the image, or crosses itself, may be imported, too: it is a finding, and no error.
    Raises Problem 422 that says what is wrong with which.
    """
    if len(objects) > MAX_OBJECTS:
        raise Problem(422, f"the image has {len(objects)} objects", expected=f"at most {MAX_OBJECTS}")
    if task == "classes" and len(objects) > 1:
        raise Problem(422, "the image has several classes", expected="at most one", got=len(objects).__str__())
    ids = set()
    n_corner = 0
    for i, each in enumerate(objects):
        trouble = _trouble(each, classes, task, size)
        if trouble is None and each["id"] in ids:
            trouble = "has the id of another object"
        if trouble is not None:
            raise Problem(422, f"object {i} {trouble}", fields={f"objects.{i}": trouble})
        ids.add(each["id"])
        n_corner += sum(map(len, each.get("polygons", ()))) // 2
    if n_corner > _MAX_CORNERS:
        words = f"the objects' polygons have {n_corner} corners"
        raise Problem(422, words, expected=f"at most {_MAX_CORNERS} in an image")
    return objects


def _trouble(each: Any, classes: Collection[str], task: str, size: Size) -> str | None:
    if not isinstance(each, dict) or not set(each) <= _KEYS or not {"id", "class"} <= set(each):
        return f"has other keys than {', '.join(sorted(_KEYS))}"
    if not isinstance(each["id"], str) or not 1 <= len(each["id"]) <= 40 or _HALF.search(each["id"]):
        return "has no id of at most 40 letters"
    if each["class"] not in classes:
        return "has a class that the data set does not have"
    if (task == "boxes") is not ("box" in each):
        return "has no box" if task == "boxes" else "has a box, but classes are of whole images"
    if "box" in each and not _are_numbers(each["box"], 4):
        return f"has a box that is not four finite numbers, at most {_FAR:.0f} pixels from the image"
    return _wrong_polygons(each.get("polygons", [])) or _wrong_rest(each, size)


def _wrong_polygons(polygons: Any) -> str | None:
    if not isinstance(polygons, list):
        return "has polygons that are not a list"
    for k, polygon in enumerate(polygons):
        if isinstance(polygon, list) and len(polygon) > 2 * _MAX_OF_ONE:
            return f"has a polygon of {len(polygon) // 2} corners, polygon {k}; at most {_MAX_OF_ONE} are possible"
        if not _are_numbers(polygon):
            return f"has polygon {k} with what is not a finite number, at most {_FAR:.0f} pixels from the image"
        if len(polygon) % 2:
            return f"has polygon {k} with {len(polygon)} numbers, which are not x and y of each corner"
        if len(polygon) < 6:
            return f"has polygon {k} with {len(polygon) // 2} corners, but needs three"
    return None


def _wrong_rest(each: dict[str, Any], size: Size) -> str | None:
    points = each.get("points", [])
    if not _are_numbers(points) or len(points) % 3:
        return "has points that are not x, y and visibility of each keypoint as finite numbers"
    for key in ("rle", "extra"):
        if not isinstance(each.get(key, {}), dict) or len(json.dumps(each.get(key, {}))) > MAX_TEXT:
            return f"has a malformed {key}"
        if key in each and _HALF.search(json.dumps(each[key], ensure_ascii=False)):
            return f"has an {key} with half of a character, such as \\ud800"
    if "rle" in each and each.get("polygons"):
        return "has both a mask and polygons"
    text = each.get("extra", {}).get("text", "")
    if not isinstance(text, str | int) or len(str(text)) > _MAX_TRANSCRIPTION:
        return f"has a text that is not one of at most {_MAX_TRANSCRIPTION} letters"
    return None if "rle" not in each else _wrong_mask(each["rle"], size)


def _wrong_mask(rle: dict[str, Any], size: Size) -> str | None:
    try:
        height, width = geometry.RLEs.from_coco([rle]).sizes[0].tolist()
    except (CvzooError, TypeError, ValueError, OverflowError) as error:
        return f"has a malformed mask: {str(error).splitlines()[0]}"
    return (
        None
        if (height, width) == size
        else f"has a mask of {height} x {width} pixels, and the image {size[0]} x {size[1]}"
    )


def _are_numbers(values: Any, n: int | None = None) -> bool:
    return (
        isinstance(values, list)
        and (n is None or len(values) == n)
        and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        and all(math.isfinite(value) and abs(value) < _FAR for value in values)
    )
