"""Writes annotations in YOLO's layout."""

import json
import pathlib
from collections.abc import Mapping, Sequence

from cvzoo.datasets.layouts.annotated_set import AnnotatedObject, AnnotatedSet, Box
from cvzoo.datasets.layouts.decimals import exact, fraction_text, to_center
from cvzoo.datasets.layouts.outline import join_polygons
from cvzoo.typing.aliases import Size


def write_yolo(annotated: AnnotatedSet, folder: pathlib.Path, names: Mapping[str, str]) -> None:
    """Writes labels/NAME.txt, a list of images for each split, classes.txt and data.yaml to `folder`.

    Objects with polygons are written in the segment format (the class and the polygon's points), all others as boxes.
    names: the name of each image's copy
    """
    classes = annotated.used_names()
    numbers: dict[str | None, int] = {name: number for number, name in enumerate(classes)}
    for image in annotated.images:
        path = folder / "labels" / pathlib.PurePath(names[image.name]).with_suffix(".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            f"{numbers[each.name]} {_fractions(each, each.bbox, image.size)}\n"
            for each in image.objects
            if each.name in numbers and each.bbox is not None and image.size is not None
        ]
        path.write_text("".join(lines), encoding="utf-8")
    for split in annotated.splits:
        lines = [f"./images/{names[image.name]}\n" for image in annotated.images if split in image.splits]
        (folder / f"{split}.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "classes.txt").write_text("".join(f"{name}\n" for name in classes), encoding="utf-8")
    (folder / "data.yaml").write_text(_yaml(annotated.splits, classes), encoding="utf-8")


def _fractions(each: AnnotatedObject, bbox: Box, size: Size) -> str:
    height, width = size
    if each.polygons:
        sides = (width, height)
        points = enumerate(join_polygons(each.polygons))
        return " ".join(fraction_text(exact(value) / sides[i % 2]) for i, value in points)
    y_min, x_min, y_max, x_max = bbox
    x, w = to_center(x_min, x_max, width)
    y, h = to_center(y_min, y_max, height)
    return f"{x} {y} {w} {h}"


def _yaml(splits: Sequence[str], classes: Sequence[str]) -> str:
    lines = ["path: ."]
    lines += [f"{split}: {split}.txt" for split in splits] or ["train: images", "val: images"]
    lines += ["names:", *(f"  {number}: {json.dumps(name, ensure_ascii=False)}" for number, name in enumerate(classes))]
    return "\n".join(lines) + "\n"
