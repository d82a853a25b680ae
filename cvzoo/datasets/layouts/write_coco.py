"""Writes annotations as COCO's JSON, one file per split."""

import json
import math
import pathlib
from collections.abc import Mapping
from typing import Any

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet, Box
from cvzoo.datasets.layouts.decimals import exact, minus

NO_SPLIT = ("all", "rest")  # names of files of images without a split: where there are no splits, and beside others


def write_coco(annotated: AnnotatedSet, folder: pathlib.Path, names: Mapping[str, str]) -> None:
    """Writes annotations/instances_SPLIT.json to `folder`, images without a split to instances_rest.json, and without
    any splits everything to instances_all.json.

    Existing ids are kept; new ones are the same in all files.
    names: the name of each image's copy
    """
    (folder / "annotations").mkdir()
    for split, file in coco_files(annotated, names).items():
        path = folder / "annotations" / f"instances_{split}.json"
        path.write_text(json.dumps(file, ensure_ascii=False), encoding="utf-8", errors="replace")


def coco_files(annotated: AnnotatedSet, names: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The contents of the files of `write_coco` by split: lists of images, annotations and categories."""
    categories, numbers = _categories(annotated)
    image_ids = _ids([image.extra.get("id") for image in annotated.images])
    objects = [
        [
            (each, numbers[each.name], each.bbox)
            for each in image.objects
            if each.name in numbers and each.bbox is not None
        ]
        for image in annotated.images
    ]
    object_ids = iter(_ids([each.extra.get("id") for row in objects for each, _, _ in row]))
    rows = []
    for image, image_id, row in zip(annotated.images, image_ids, objects):
        annotations = [_annotation(each, bbox, next(object_ids), image_id, number) for each, number, bbox in row]
        rows.append((image, _image(image, image_id, names[image.name]), annotations))
    files = {split: [row for row in rows if split in row[0].splits] for split in annotated.splits}
    rest = [row for row in rows if not row[0].splits]
    if rest or not annotated.splits:
        files[NO_SPLIT[1] if annotated.splits else NO_SPLIT[0]] = rest
    is_coco = annotated.kind == "coco"
    info = {key: annotated.extra[key] for key in annotated.extra if key != "categories"} if is_coco else {}
    return {
        split: {
            **info,
            "images": [record for _, record, _ in chosen],
            "annotations": [each for _, _, annotations in chosen for each in annotations],
            "categories": categories,
        }
        for split, chosen in files.items()
    }


def _categories(annotated: AnnotatedSet) -> tuple[list[dict[str, Any]], dict[str | None, int]]:
    known = {each["name"]: each for each in annotated.extra.get("categories", ()) if annotated.kind == "coco"}
    taken = {each["id"] for each in known.values()}
    numbers: dict[str | None, int] = {}
    records = []
    for name in annotated.used_names():
        if name in known:
            number = known[name]["id"]
        else:
            number = max(taken, default=0) + 1
        taken.add(number)
        numbers[name] = number
        records.append(known.get(name, {"id": number, "name": name, "supercategory": ""}))
    return records, numbers


def _ids(given: list[object]) -> list[int]:
    """The integer ids, unless duplicate; larger new ones for all others."""
    known = {each for each in given if isinstance(each, int)}
    following = max(known, default=0)
    taken: set[int] = set()
    ids = []
    for each in given:
        if not isinstance(each, int) or each in taken:
            following += 1
            each = following
        taken.add(each)
        ids.append(each)
    return ids


def _image(image: AnnotatedImage, id_: int, name: str) -> dict[str, Any]:
    record: dict[str, Any] = {"id": id_, "file_name": name}
    if image.size is not None:
        record |= {"height": image.size[0], "width": image.size[1]}
    return record | {key: value for key, value in image.extra.items() if key != "id"}


def _annotation(each: AnnotatedObject, bbox: Box, id_: int, image_id: int, number: int) -> dict[str, Any]:
    y_min, x_min, y_max, x_max = bbox
    width, height = minus(x_max, x_min), minus(y_max, y_min)
    record: dict[str, Any] = {
        "id": id_,
        "image_id": image_id,
        "category_id": number,
        "bbox": [_whole(value) for value in (x_min, y_min, width, height)],
        "area": each.extra["area"] if "area" in each.extra else _area(each, width, height),
        "iscrowd": 0,
    }
    if each.polygons:
        record["segmentation"] = [list(polygon) for polygon in each.polygons]
    elif each.rle is not None:
        record["segmentation"] = dict(each.rle)
    if each.points:
        record["keypoints"] = list(each.points)
    return record | {key: value for key, value in each.extra.items() if key not in ("id", "image_id")}


def _area(each: AnnotatedObject, width: float, height: float) -> float | int:
    """The area of the polygons, which evaluation sorts objects by, or else of the box."""
    if not each.polygons:
        return _whole(float(exact(width) * exact(height))) if math.isfinite(width * height) else 0
    area = 0.0
    for polygon in each.polygons:
        xs, ys = polygon[0::2], polygon[1::2]
        area += abs(math.fsum(xs[i - 1] * ys[i] - xs[i] * ys[i - 1] for i in range(len(xs)))) / 2
    return _whole(area)


def _whole(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value
