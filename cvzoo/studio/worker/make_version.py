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
    with open(lines, encoding="utf-8") as file:
        rows = list(map(json.loads, file))
    content = content_hash(order["task"], order["classes"], rows)
    sound = [row for row in rows if row["height"]]
    with new_folder(out) as folder:
        data = _WRITERS[order["task"]](order, sound, folder, progress)
    store = ImageStore(pathlib.Path(order["images"]))
    write_files(out, {store.image(row["sha256"]) for row in sound})
    return {"n_error": 0, "content": content, "data": data.replace(str(folder), str(out))}


def _write_boxes(
    order: Mapping[str, Any],
    rows: Sequence[dict[str, Any]],
    folder: pathlib.Path,
    progress: Callable[[str, int, int], None],
) -> str:
    kind = _layout(order, rows)
    annotated = annotated_set(order, _images(order, rows), kind)
    names = plain_names([row["name"] for row in rows], flat=kind != "coco")
    images = folder / PHOTO_FOLDERS[kind]
    images.mkdir()
    for i, image in enumerate(annotated.images):
        assert image.path is not None
        _link(image.path, images / names[image.name])
        progress("writing", i, len(rows))
    _BOX_WRITERS[kind](annotated, folder, names)
    return f"{kind}:{folder}"


def _layout(order: Mapping[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    """The layout to write: that of the original if it can hold the objects, since metrics depend on it, else COCO's."""
    objects = [each for row in rows for each in row["labels"]]
    if order["layout"] == "sroie":  # a line of text has four corners
        is_held = all("rle" not in each and set(map(len, each.get("polygons", ()))) <= {8} for each in objects)
        is_held &= all(len(each.get("polygons", ())) <= 1 for each in objects)
        return "sroie" if is_held and list(order["classes"]) == ["text"] else "coco"
    if order["layout"] == "voc":  # its masks have no text; COCO's layout has no objects that are difficult
        is_held = not any("text" in each.get("extra", {}) and each.get("polygons") for each in objects)
        return "voc" if is_held else "coco"
    return "coco"


def _write_classes(
    order: Mapping[str, Any],
    rows: Sequence[dict[str, Any]],
    folder: pathlib.Path,
    progress: Callable[[str, int, int], None],
) -> str:
    store = annotated_set(order, _images(order, rows), "folder")
    folders = dict(zip(order["classes"], plain_names(order["classes"], flat=True).values()))
    for split in store.splits:
        for name in folders.values():
            (folder / split / name).mkdir(parents=True)
    for i, (image, row) in enumerate(zip(store.images, rows)):
        if row["split"] and row["labels"] and image.path is not None:
            name = plain_names([row["name"]], flat=True)[row["name"]]
            inner = folder / row["split"] / folders[row["labels"][0]["class"]]
            _link(image.path, _free(inner / name))
        progress("writing", i, len(rows))
    return f"folder:{folder}"


def _images(order: Mapping[str, Any], rows: Iterable[dict[str, Any]]) -> Iterator[AnnotatedImage]:
    store = ImageStore(pathlib.Path(order["images"]))
    return (image_from_json(row, store.image(row["sha256"])) for row in rows)


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
