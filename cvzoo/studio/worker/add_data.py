"""Images that are added to a data set: unpacks them, stores them, and writes a row per image."""

import dataclasses
import json
import pathlib
import shutil
from collections.abc import Mapping
from typing import Any

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage
from cvzoo.datasets.layouts.write_voc import box_in_voc
from cvzoo.errors.exceptions import DatasetError
from cvzoo.reporting.counted import counted
from cvzoo.studio.data.edit import MAX_CLASSES
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.place import NAMES
from cvzoo.studio.worker.check_data import check_lines, plain, write_findings
from cvzoo.studio.worker.find_data import FoundData
from cvzoo.studio.worker.import_data import (
    FINDINGS,
    ROWS,
    Progress,
    categories_of,
    checked_classes,
    found_in,
    images_of,
    not_among,
    of_files,
    of_texts,
    write_rows,
)

_WORDS = {"boxes": "boxes", "classes": "a class per image"}


def add_data(order: Mapping[str, Any], folder: pathlib.Path, progress: Progress) -> dict[str, Any]:
    """{"n", "classes", "extra"}: of the images that are added; the rows are in FOLDER/rows.jsonl.

    order: "source" and "images" as of `import_data`; "task", "layout" and "classes" of the data set, "first", the
        number of the first image; the names that are taken are in FOLDER/names.json
    Raises DatasetError for a name that is taken, or annotations that the data set cannot hold, and what `import_data`
    raises.
    """
    progress("unpacking", 0, 0)
    is_classified = order["task"] == "classes"
    found = _fitting(found_in(order["source"], folder, progress, order["classes"] if is_classified else ()), order)
    images = images_of(found)
    _expect_new([plain(image.name) for image in images], folder)
    used = {each.name for image in images for each in image.objects}
    classes = checked_classes(name for name in found.annotated.used_names() if name in used)
    n_class = len({*order["classes"], *classes})
    if n_class > MAX_CLASSES:
        raise DatasetError(f"the data set would have {n_class} classes", expected=f"at most {MAX_CLASSES}")
    store = ImageStore(pathlib.Path(order["images"]))
    rows = write_rows(images, order["task"], store, folder, progress, first=order["first"])
    progress("checking", 0, 0)
    extra = categories_of(found.annotated)
    # the whole data set is checked afterwards; what is found in the files is found here alone
    more = {"classes": classes, "extra": extra, "kept": str(folder / "looks.json")}
    checked = list(check_lines({**order, **more}, folder / ROWS, progress))
    write_findings(
        folder / FINDINGS, [*not_among(checked, of_files(found, rows, store)), *of_texts(found, images, rows)]
    )
    shutil.rmtree(folder / "unpacked", ignore_errors=True)
    return {"n": len(rows), "classes": classes, "extra": extra}


def _expect_new(names: list[str], folder: pathlib.Path) -> None:
    taken = set(json.loads((folder / NAMES).read_text(encoding="utf-8")))
    known = [name for name in names if name in taken]
    if known:
        raise DatasetError(
            f"{len(known)} of {len(names)} images have names that the data set has: {', '.join(known[:3])}",
            expected="other names than those of its images, be they deleted",
            hint="rename the files, or add only the new ones",
        )


def _fitting(found: FoundData, order: Mapping[str, Any]) -> FoundData:
    """The images with annotations as the data set has them. Raises DatasetError if it cannot hold them."""
    annotated = found.annotated
    if annotated.kind == "images":  # without annotations they fit everywhere
        return found
    if found.task != order["task"]:
        raise DatasetError(
            f"the images have {_WORDS[found.task]}, and the data set has {_WORDS[order['task']]}",
            expected="annotations of the same task",
            hint="a data set of its own",
        )
    if order["layout"] != "voc" or annotated.kind == "voc":
        return found
    objects = [each for image in annotated.images for each in image.objects]
    n_crowd = sum(bool(each.extra.get("iscrowd")) for each in objects)
    n_point = sum(bool(each.points) for each in objects)
    if n_crowd or n_point:
        words = counted(n_crowd, "crowd") if n_crowd else counted(n_point, "set", "sets") + " of keypoints"
        raise DatasetError(
            f"the images have {words}, which VOC's layout, that of the data set, cannot hold",
            hint="a data set of its own",
        )
    images = tuple(map(_in_voc, annotated.images))
    return dataclasses.replace(found, annotated=dataclasses.replace(annotated, images=images))


def _in_voc(image: AnnotatedImage) -> AnnotatedImage:
    """The image with boxes that end where VOC's coordinates do, as `cvzoo data convert` writes them."""
    boxes = [None if each.bbox is None else box_in_voc(each.bbox, image.size) for each in image.objects]
    objects = [dataclasses.replace(each, bbox=box) for each, box in zip(image.objects, boxes) if box is not None]
    return dataclasses.replace(image, objects=tuple(objects))
