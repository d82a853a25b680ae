"""Writes annotations as COCO's JSON, one file per split."""

import json
import math
import pathlib
import shutil
from collections.abc import Iterable, Mapping
from typing import Any

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet, Box
from cvzoo.datasets.layouts.decimals import exact, minus

_AT_ONCE = 1 << 20  # letters in memory
_text = json.JSONEncoder(ensure_ascii=False).encode  # made once: `json.dumps` with options makes one per call
NO_SPLIT = ("all", "rest")  # names of files of images without a split: where there are no splits, and beside others


def write_coco(
    annotated: AnnotatedSet,
    folder: pathlib.Path,
    names: Mapping[str, str],
    images: Iterable[AnnotatedImage] | None = None,
    largest: tuple[int, int] | None = None,
) -> None:
    """Writes annotations/instances_SPLIT.json to `folder`, images without a split to instances_rest.json, and without
    any splits everything to instances_all.json.

    Existing ids are kept; new ones are the same in all files.
    names: the name of each image's copy
    images: the images, each of which is written before the next one is asked for; None: those of `annotated`
    largest: the largest integer ids of images and of objects with a box, 0 without any; None: those of `annotated`
    """
    (folder / "annotations").mkdir()
    records = _Records(annotated, _largest(annotated) if largest is None else largest)
    head = "".join(f"{_text(key)}: {_text(value)}, " for key, value in _info(annotated).items())

    def file(split: str) -> _File:
        return _File(folder / "annotations" / f"instances_{split}.json", head)

    files = {split: file(split) for split in _splits(annotated)}
    for image in annotated.images if images is None else images:
        record, annotations = records.of(image, names[image.name])
        texts = _text(record), _text(annotations)[1:-1]
        for split in _splits_of(image, annotated):
            if split not in files:
                files[split] = file(split)
            files[split].add(*texts)
    for each in files.values():
        each.close(_text(records.categories))


def coco_files(annotated: AnnotatedSet, names: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The contents of the files of `write_coco` by split: lists of images, annotations and categories."""
    records = _Records(annotated, _largest(annotated))
    found: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]]
    found = {split: ([], []) for split in _splits(annotated)}
    for image in annotated.images:
        record, annotations = records.of(image, names[image.name])
        for split in _splits_of(image, annotated):
            images, objects = found.setdefault(split, ([], []))
            images.append(record)
            objects += annotations
    info = _info(annotated)
    return {
        split: {**info, "images": images, "annotations": objects, "categories": records.categories}
        for split, (images, objects) in found.items()
    }


class _Records:
    """The records of images and of their annotations. largest: the largest ids of both that are given"""

    def __init__(self, annotated: AnnotatedSet, largest: tuple[int, int]):
        self.categories, self._numbers = _categories(annotated)
        self._image_ids, self._object_ids = map(_Ids, largest)

    def of(self, image: AnnotatedImage, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """(the image's record, those of its objects with a class and a box). name: of its copy"""
        id_, numbers, new_id = self._image_ids.of(image.extra.get("id")), self._numbers, self._object_ids.of
        annotations = [
            _annotation(each, each.bbox, new_id(each.extra.get("id")), id_, numbers[each.name])
            for each in image.objects
            if each.name in numbers and each.bbox is not None
        ]
        return _image(image, id_, name), annotations


class _Ids:
    """The integer ids that are given, unless duplicate; larger new ones for all others. largest: of those given"""

    def __init__(self, largest: int):
        self._last = largest
        self._taken: set[int] = set()

    def of(self, given: object) -> int:
        if not isinstance(given, int) or given in self._taken:
            self._last += 1
            given = self._last
        self._taken.add(given)
        return given


def _largest(annotated: AnnotatedSet) -> tuple[int, int]:
    objects = (each for image in annotated.images for each in image.objects if _is_written(each))
    both = (image.extra.get("id") for image in annotated.images), (each.extra.get("id") for each in objects)
    of_images, of_objects = (max((id_ for id_ in ids if isinstance(id_, int)), default=0) for ids in both)
    return of_images, of_objects


def _is_written(each: AnnotatedObject) -> bool:
    return each.name is not None and each.bbox is not None


class _File:
    """A file of annotations that is written image by image. head: text of what comes before the images

    The annotations come after all images, and are in a file of their own until then.
    """

    def __init__(self, path: pathlib.Path, head: str):
        self._path, self._part = path, path.with_suffix(".part")
        self._images, self._annotations = [f'{{{head}"images": ['], [""]  # texts that are not written yet
        self._between = "", ""  # in front of the next image, and the next annotation
        self._n_letter = 0

    def add(self, image: str, annotations: str) -> None:
        """Adds the record of an image, and those of its objects without brackets."""
        before_image, before_annotation = self._between
        self._images.append(before_image + image)
        if annotations:
            self._annotations.append(before_annotation + annotations)
        self._between = ", ", ", " if annotations else before_annotation
        self._n_letter += len(image) + len(annotations)
        if self._n_letter > _AT_ONCE:
            self._write()

    def close(self, categories: str) -> None:
        """Writes what is left. categories: their records"""
        self._images.append('], "annotations": [')
        self._write()
        with open(self._path, "ab") as file:
            with open(self._part, "rb") as part:
                shutil.copyfileobj(part, file)
            file.write(_bytes(f'], "categories": {categories}}}'))
        self._part.unlink()

    def _write(self) -> None:
        for path, texts in ((self._path, self._images), (self._part, self._annotations)):
            with open(path, "ab") as file:
                file.write(_bytes("".join(texts)))
            texts.clear()
        self._n_letter = 0


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _splits(annotated: AnnotatedSet) -> tuple[str, ...]:
    return annotated.splits or NO_SPLIT[:1]


def _splits_of(image: AnnotatedImage, annotated: AnnotatedSet) -> list[str]:
    """Of which files the image is."""
    if image.splits:
        return [split for split in annotated.splits if split in image.splits]
    return [NO_SPLIT[1] if annotated.splits else NO_SPLIT[0]]


def _info(annotated: AnnotatedSet) -> dict[str, Any]:
    if annotated.kind != "coco":
        return {}
    return {key: value for key, value in annotated.extra.items() if key not in ("images", "annotations", "categories")}


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
