"""Annotations as JSON, to and from the representation that all layouts share."""

import dataclasses
import math
import secrets
from typing import Any

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, Box

# what the image or the revision says already, or what no layout writes
_LEFT_OUT = ("image_id",)


def object_to_json(each: AnnotatedObject) -> dict[str, Any] | None:
    """The object for an image's row; None if it has no class, or a box that is not finite."""
    if each.name is None or each.bbox is None or not all(map(math.isfinite, each.bbox)):
        return None
    found: dict[str, Any] = {"id": new_object_id(), "class": each.name, "box": list(each.bbox)}
    if each.polygons:
        found["polygons"] = [list(polygon) for polygon in each.polygons]
    if each.rle is not None:
        found["rle"] = dict(each.rle)
    if each.points:
        found["points"] = list(each.points)
    extra = {key: value for key, value in each.extra.items() if key not in _LEFT_OUT}
    return found | ({"extra": extra} if extra else {})


def object_from_json(tree: dict[str, Any], index: int) -> AnnotatedObject:
    """The object of a row. index: its index in the image; a class of a whole image has no box"""
    box = tree.get("box")
    bbox = None if box is None else _box(box)
    return AnnotatedObject(
        index,
        tree["class"],
        bbox,
        () if bbox is None else bbox,
        polygons=tuple(map(tuple, tree.get("polygons", ()))),
        rle=tree.get("rle"),
        points=tuple(tree.get("points", ())),
        extra=tree.get("extra", {}),
    )


def image_from_json(row: dict[str, Any], path: Any) -> AnnotatedImage:
    """The image of a row. path: its file"""
    size = (row["height"], row["width"]) if row["height"] else None
    objects = tuple(object_from_json(tree, index) for index, tree in enumerate(row["labels"]))
    splits = (row["split"],) if row["split"] else ()
    extra = row["extra"] | {"id": row["ordinal"] + 1}  # readers of COCO's files sort by it
    return AnnotatedImage(row["name"], path, None, size, splits, objects, extra)


def in_coco(image: AnnotatedImage) -> AnnotatedImage:
    """The image, whose boxes have the values that COCO's files would have: x, y, width and height."""
    objects = []
    for each in image.objects:
        if each.bbox is not None:
            y_min, x_min, y_max, x_max = each.bbox
            each = dataclasses.replace(each, written=(x_min, y_min, x_max - x_min, y_max - y_min))
        objects.append(each)
    return dataclasses.replace(image, objects=tuple(objects))


def new_object_id() -> str:
    """Ten random letters."""
    return secrets.token_hex(5)


def _box(values: list[float]) -> Box:
    y_min, x_min, y_max, x_max = values
    return y_min, x_min, y_max, x_max
