"""Materializes a version of a data set: a folder in a layout that `cvzoo train --data` reads, of hard links."""

import json
import os
import pathlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage
from cvzoo.datasets.layouts.new_folder import new_folder, plain_names
from cvzoo.datasets.layouts.write import PHOTO_FOLDERS
from cvzoo.datasets.layouts.write_coco import write_coco
from cvzoo.datasets.layouts.write_sroie import write_sroie
from cvzoo.datasets.layouts.write_voc import write_voc
from cvzoo.studio.data.labels import image_from_json
from cvzoo.studio.data.version_files import write_files
from cvzoo.studio.data.versions import content_hash
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.worker.check_data import annotated_set, check_lines, write_findings


def make_version(
    order: Mapping[str, Any], lines: pathlib.Path, findings: pathlib.Path, progress: Callable[[str, int, int], None]
) -> dict[str, Any]:
    """{"n_error": those that are neither fixed nor waived}, and without any "data", the specification, and "content".

    order: of the data set, "out": the folder to make, "waived": digests of findings, "findings": those of the import
    lines, findings: files of the rows, and of what is found
    Images that cannot be decoded are left out.
    """
    progress("checking", 0, 0)
    errors = write_findings(findings, check_lines(order, lines, progress))
    errors += [each["digest"] for each in order["findings"] if each["severity"] == "error"]
    waived = set(order["waived"])
    n_error = sum(digest not in waived for digest in errors)
    if n_error:
        return {"n_error": n_error}
    out = pathlib.Path(order["out"])
    for part in out.parent.glob(f".{out.name}.*.part"):  # of an attempt that was killed
        shutil.rmtree(part)
    if out.is_dir():  # of an attempt that was killed after the rename
        shutil.rmtree(out)
    images: list[AnnotatedImage] = []
    with open(lines, encoding="utf-8") as file:
        content = content_hash(order["task"], order["classes"], _seen(order, map(json.loads, file), images))
    with new_folder(out) as folder:
        data = _WRITERS[order["task"]](order, images, folder, progress)
    write_files(out, {image.path for image in images if image.path is not None})
    return {"n_error": 0, "content": content, "data": data.replace(str(folder), str(out))}


def _write_boxes(
    order: Mapping[str, Any],
    images: Sequence[AnnotatedImage],
    folder: pathlib.Path,
    progress: Callable[[str, int, int], None],
) -> str:
    kind = _layout(order, images)
    annotated = annotated_set(order, images, kind)
    names = plain_names([image.name for image in images], flat=kind != "coco")
    target = folder / PHOTO_FOLDERS[kind]
    target.mkdir()
    for i, image in enumerate(images):
        assert image.path is not None
        _link(image.path, target / names[image.name])
        progress("writing", i, len(images))
    _BOX_WRITERS[kind](annotated, folder, names)
    return f"{kind}:{folder}"


def _layout(order: Mapping[str, Any], images: Sequence[AnnotatedImage]) -> str:
    """The layout to write: that of the original if it can hold the objects, since metrics depend on it, else COCO's."""
    objects = [each for image in images for each in image.objects]
    if order["layout"] == "sroie":  # a line of text has four corners
        is_held = all(each.rle is None and set(map(len, each.polygons)) <= {8} for each in objects)
        is_held &= all(len(each.polygons) <= 1 for each in objects)
        return "sroie" if is_held and list(order["classes"]) == ["text"] else "coco"
    if order["layout"] == "voc":  # its masks have no text; COCO's layout has no objects that are difficult
        is_held = not any("text" in each.extra and each.polygons for each in objects)
        return "voc" if is_held else "coco"
    return "coco"


def _write_classes(
    order: Mapping[str, Any],
    images: Sequence[AnnotatedImage],
    folder: pathlib.Path,
    progress: Callable[[str, int, int], None],
) -> str:
    splits = annotated_set(order, images, "folder").splits
    folders = dict(zip(order["classes"], plain_names(order["classes"], flat=True).values()))
    for split in splits:
        for name in folders.values():
            (folder / split / name).mkdir(parents=True)
    for i, image in enumerate(images):
        if image.splits and image.objects and image.path is not None:
            name = plain_names([image.name], flat=True)[image.name]
            (split,), first = image.splits, image.objects[0].name
            assert first is not None
            _link(image.path, _free(folder / split / folders[first] / name))
        progress("writing", i, len(images))
    return f"folder:{folder}"


def _seen(
    order: Mapping[str, Any], rows: Iterable[dict[str, Any]], images: list[AnnotatedImage]
) -> Iterator[dict[str, Any]]:
    """The rows, of which only the images that can be decoded stay in memory. images: where they are added"""
    store = ImageStore(pathlib.Path(order["images"]))
    for row in rows:
        if row["height"]:
            images.append(image_from_json(row, store.image(row["sha256"])))
        yield row


def _free(path: pathlib.Path) -> pathlib.Path:
    number = 1
    while path.exists():
        number += 1
        path = path.with_stem(f"{path.stem}_{number}")
    return path


def _link(source: pathlib.Path, target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(source, target)


_BOX_WRITERS = {"voc": write_voc, "coco": write_coco, "sroie": write_sroie}
_WRITERS: Mapping[str, Callable[..., str]] = {"boxes": _write_boxes, "classes": _write_classes}
