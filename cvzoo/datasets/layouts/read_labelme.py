"""Reads labelme's layout, a JSON file next to each image, leniently."""

import dataclasses
import json
import pathlib
from collections.abc import Mapping
from typing import Any

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet
from cvzoo.datasets.layouts.coco_records import as_text
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.lenient_text import by_key, read_leniently, read_list, read_names, splits_of_lists
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.list_image_files import list_image_files
from cvzoo.reporting.counted import counted

_LISTS = ("train", "val", "test")
_OWN = ("label", "points", "group_id", "shape_type", "flags", "description", "mask")  # fields of a shape


def read_labelme(spec: DataSpec) -> AnnotatedSet:
    """The data set of a folder of images with a labelme file of the same name next to each; labels.txt has the classes.

    Rectangles, polygons and circles are objects, and polygons of one label and group_id are one; the points of a
    group are the keypoints of its object, in their order. Raises DatasetError if there is no such file.
    """
    root = spec.path
    findings: list[Finding] = []
    image_dir = spec.photos or root
    files = by_key(list_image_files(image_dir), lambda path: path.stem, findings)
    texts = {path.stem: path for path in sorted(root.glob("*.json"))}
    if not texts:
        raise DatasetError(f"{root} is not in labelme's layout", expected="a .json file next to each image")
    stems = sorted(files.keys() | texts.keys())
    known = {stem: files[stem].name if stem in files else f"{stem}.jpg" for stem in stems}
    lists = _lists(spec.lists or root, known, findings)
    splits = splits_of_lists(lists, known, findings)
    images = [
        dataclasses.replace(
            _read_image(known[stem], files.get(stem), texts.get(stem), findings), splits=splits.get(known[stem], ())
        )
        for stem in stems
    ]
    return AnnotatedSet(
        kind="labelme",
        root=root,
        images=tuple(images),
        names=read_names(root / "labels.txt", findings) if (root / "labels.txt").is_file() else None,
        splits=tuple(lists),
        findings=tuple(findings),
        image_dirs=(image_dir,),
    )


def _lists(folder: pathlib.Path, known: Mapping[str, str], findings: list[Finding]) -> dict[str, list[str]]:
    """The lines of train.txt, val.txt, test.txt and any other .txt that begins with an image's name, by split."""
    lists = {name: read_list(path, findings) for name in _LISTS if (path := folder / f"{name}.txt").is_file()}
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in (*_LISTS, "labels"):
            lines = read_list(path, [])  # what is not a list has no faults
            if lines and lines[0] in known:
                lists[path.stem] = lines
    return lists


def _read_image(
    name: str, path: pathlib.Path | None, text_path: pathlib.Path | None, findings: list[Finding]
) -> AnnotatedImage:
    if text_path is None:
        findings.append(Finding(Fault.ANNOTATION_MISSING, "there is no .json file with its name", name))
        return AnnotatedImage(name, path)
    try:
        file = json.loads(read_leniently(text_path, name, findings) or "")
    except (ValueError, RecursionError):
        file = None
    if not isinstance(file, dict) or not isinstance(file.get("shapes"), list):
        findings.append(Finding(Fault.FIELD_MALFORMED, f"{text_path.name} has no list of shapes", name))
        return AnnotatedImage(name, path, text_path)
    height, width = file.get("imageHeight"), file.get("imageWidth")
    size = (height, width) if isinstance(height, int) and isinstance(width, int) else None
    objects: list[AnnotatedObject] = []
    groups: dict[tuple[str | None, object], int] = {}  # (label, group_id) -> the object
    points: dict[object, list[float]] = {}  # group_id -> x, y, 2 ...
    for index, shape in enumerate(file["shapes"]):
        each = _read_shape(shape, index, name, findings)
        if each is None:
            continue
        group = shape.get("group_id")
        if shape.get("shape_type") == "point":
            points.setdefault(group, []).extend((*each.written, 2))
            continue
        key = (each.name, group)
        if group is not None and key in groups and each.polygons:
            objects[groups[key]] = _joined(objects[groups[key]], each)
        else:
            groups.setdefault(key, len(objects))
            objects.append(each)
    for (_, group), i in groups.items():
        if group is not None and group in points:
            objects[i] = dataclasses.replace(objects[i], points=tuple(points.pop(group)))
    if points:
        findings.append(
            Finding(
                Fault.FIELD_MALFORMED,
                f"{counted(len(points), 'group of points has', 'groups of points have')} no object",
                name,
            )
        )
    return AnnotatedImage(name, path, text_path, size, (), tuple(objects))


def _read_shape(shape: Any, index: int, name: str, findings: list[Finding]) -> AnnotatedObject | None:
    """The object of a shape, a point as one whose `written` is x and y; None for another shape, or a malformed one."""
    values = _values(shape)
    kind = shape.get("shape_type", "polygon") if isinstance(shape, dict) else None
    least = {"rectangle": 4, "circle": 4, "polygon": 6, "point": 2}
    if values is None or kind not in least or len(values) < least[kind] or not isinstance(shape.get("label"), str):
        findings.append(Finding(Fault.FIELD_MALFORMED, f"shapes[{index}] is {as_text(shape)}", name, index))
        return None
    xs, ys = values[0::2], values[1::2]
    bbox = (min(ys), min(xs), max(ys), max(xs))
    if kind == "circle":  # its center, and a point of it
        radius = ((xs[1] - xs[0]) ** 2 + (ys[1] - ys[0]) ** 2) ** 0.5
        bbox = (ys[0] - radius, xs[0] - radius, ys[0] + radius, xs[0] + radius)
    polygons = (values,) if kind == "polygon" else ()
    extra = {key: value for key, value in shape.items() if key not in _OWN}
    return AnnotatedObject(index, shape["label"], bbox, values, polygons=polygons, extra=extra)


def _values(shape: object) -> tuple[float, ...] | None:
    points = shape.get("points") if isinstance(shape, Mapping) else None
    try:
        values = tuple(float(value) for x, y in points or () for value in (x, y))
    except (TypeError, ValueError, OverflowError):
        return None
    return values or None


def _joined(first: AnnotatedObject, second: AnnotatedObject) -> AnnotatedObject:
    polygons = first.polygons + second.polygons
    xs = [value for polygon in polygons for value in polygon[0::2]]
    ys = [value for polygon in polygons for value in polygon[1::2]]
    return dataclasses.replace(first, polygons=polygons, bbox=(min(ys), min(xs), max(ys), max(xs)))
