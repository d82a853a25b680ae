"""Writes annotations in labelme's layout: a JSON file next to each image."""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet, Box

VERSION = "5.0.0"  # of labelme, which reads older files


def write_labelme(annotated: AnnotatedSet, folder: pathlib.Path, names: Mapping[str, str]) -> None:
    """Writes NAME.json for each image to `folder`, with a polygon or a rectangle and the keypoints of each object, and
    labels.txt with the classes, which labelme takes as `--labels`, and a list of images for each split.

    The shapes of one object have one group_id, if they are several. names: the name of each image's copy
    """
    for image in annotated.images:
        name = names[image.name]
        file: dict[str, Any] = {
            "version": VERSION,
            "flags": {},
            "shapes": _shapes(image, annotated.extra.get("categories", ())),
            "imagePath": pathlib.PurePosixPath(name).name,
            "imageData": None,
            "imageHeight": None if image.size is None else image.size[0],
            "imageWidth": None if image.size is None else image.size[1],
        }
        path = folder / pathlib.PurePath(name).with_suffix(".json")
        path.write_text(json.dumps(file, ensure_ascii=False, indent=2), encoding="utf-8", errors="replace")
    lists = {split: [image for image in annotated.images if split in image.splits] for split in annotated.splits}
    words = {split: [pathlib.PurePath(names[image.name]).stem for image in images] for split, images in lists.items()}
    if annotated.names is not None:
        words["labels"] = list(annotated.names)
    for name, lines in words.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _shapes(image: AnnotatedImage, categories: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    point_names = {each["name"]: each.get("keypoints", ()) for each in categories}
    shapes = []
    for group, each in enumerate(image.objects, 1):
        if each.name is None or each.bbox is None:
            continue
        own = _of_object(each, each.name, each.bbox)
        points = list(zip(each.points[0::3], each.points[1::3], each.points[2::3]))
        words = point_names.get(each.name, ())
        for k, (x, y, visible) in enumerate(points):
            if visible:
                own.append(_shape(words[k] if k < len(words) else str(k), "point", (x, y)))
        for shape in own if len(own) > 1 else ():
            shape["group_id"] = group
        shapes += own
    return shapes


def _of_object(each: AnnotatedObject, name: str, bbox: Box) -> list[dict[str, Any]]:
    y_min, x_min, y_max, x_max = bbox
    own = [_shape(name, "polygon", polygon) for polygon in each.polygons if len(polygon) >= 6]
    own = own or [_shape(name, "rectangle", (x_min, y_min, x_max, y_max))]
    if "score" in each.extra:
        own[0]["score"] = each.extra["score"]
    return own


def _shape(label: str, kind: str, values: Sequence[float]) -> dict[str, Any]:
    points = [list(point) for point in zip(values[0::2], values[1::2])]
    return {"label": label, "points": points, "group_id": None, "shape_type": kind, "flags": {}}
