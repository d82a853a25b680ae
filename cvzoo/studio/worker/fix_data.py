"""What the doctor's fixes make of images, in a process of its own, as the server does not compute with arrays.

`python -m cvzoo.studio.worker.fix_data` reads a question from standard input, and writes the answer, of `fixed`.
"""

import dataclasses
import json
import pathlib
import sys
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from cvzoo.datasets.doctor.coordinate_faults import EXPLAINING
from cvzoo.datasets.doctor.examine_dataset import Checkup
from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.fix import Change, fix
from cvzoo.datasets.doctor.image_facts import ImageFacts
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.studio.data.labels import image_from_json, in_coco, object_to_json
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.worker.check_data import annotated_set, known_facts
from cvzoo.studio.worker.parent import end_with_parent

_FAULTS = {each.slug: each for each in Fault}


def fixed(asked: Mapping[str, Any]) -> dict[str, Any]:
    """{"images": [{"ordinal", "labels" (None: it is deleted)}], "changes": [{"kind", "ordinal", "object", "done"}]}.

    asked: "images", the store's folder, "classes" and "extra" as of `annotated_set`, "rows", as of `item_line`, and
        "findings": [{"kind", "message", "ordinal", "object"}]; ordinal None: of all images
    """
    findings: dict[int | None, list[dict[str, Any]]] = defaultdict(list)
    for each in asked["findings"]:
        findings[each["ordinal"]].append(each)
    store = ImageStore(pathlib.Path(asked["images"]))
    images: list[AnnotatedImage] = []
    facts: list[ImageFacts | None] = []
    found = [Finding(_FAULTS[each["kind"]], each["message"]) for each in findings[None]]
    for row in asked["rows"]:
        image = image_from_json(row, store.image(row["sha256"]))
        mine = [_finding(each, row) for each in findings[row["ordinal"]]]
        if any(each.kind in EXPLAINING for each in mine):
            image = in_coco(image)
        else:
            image = _with_faulty_objects(image, None if findings[None] else {each.annotation for each in mine})
        images.append(image)
        facts.append(known_facts(store, row["sha256"]))
        found += mine
    annotated = annotated_set(asked, images, "coco")
    spec = DataSpec("coco", pathlib.Path(asked["images"]))
    # what was waived, or not chosen, is not among the findings, and stays
    result = fix(Checkup(spec, annotated, tuple(facts), tuple(found)), only_found=True)
    clipped = {(each.image, each.annotation) for each in result.changes if each.kind == Fault.BOX_OUTSIDE.slug}
    after = {image.name: _with_clipped_polygons(image, clipped) for image in result.annotated.images}
    rows = {row["name"]: row for row in asked["rows"]}
    return {
        "images": [
            {"ordinal": rows[each.name]["ordinal"], "labels": _labels(rows[each.name], each, after.get(each.name))}
            for each in images
        ],
        "changes": [_change(each, rows) for each in result.changes],
    }


def _finding(each: Mapping[str, Any], row: Mapping[str, Any]) -> Finding:
    ids = [label["id"] for label in row["labels"]]
    index = ids.index(each["object"]) if each["object"] in ids else None
    return Finding(_FAULTS[each["kind"]], each["message"], row["name"], index)


def _with_faulty_objects(image: AnnotatedImage, wanted: Collection[int | None] | None) -> AnnotatedImage:
    """The image with those objects alone that have findings, as the others stay as they are. wanted: None for all

    Nothing is said of the file that they were read from, as if it had YOLO's boxes, which are those of the polygons.
    """
    objects = [each for each in image.objects if wanted is None or each.index in wanted]
    return dataclasses.replace(image, objects=tuple(dataclasses.replace(each, written=()) for each in objects))


def _with_clipped_polygons(image: AnnotatedImage, clipped: Collection[tuple[str | None, int | None]]) -> AnnotatedImage:
    """The image, in which polygons end where their boxes were clipped: with it, as in the editor."""
    if image.size is None:
        return image
    limits = (float(image.size[1]), float(image.size[0]))
    objects = []
    for each in image.objects:
        if (image.name, each.index) in clipped:
            polygons = (
                tuple(min(max(value, 0.0), limits[i % 2]) for i, value in enumerate(polygon))
                for polygon in each.polygons
            )
            each = dataclasses.replace(each, polygons=tuple(polygons))
        objects.append(each)
    return dataclasses.replace(image, objects=tuple(objects))


def _labels(row: Mapping[str, Any], before: AnnotatedImage, after: AnnotatedImage | None) -> list[Any] | None:
    """The objects of the row, of which those that were looked at are as they are after it."""
    if after is None:
        return None
    looked_at = {each.index for each in before.objects}
    new = {each.index: object_to_json(each) for each in after.objects}
    labels = []
    for index, label in enumerate(row["labels"]):
        if index not in looked_at:
            labels.append(label)
        elif (tree := new.get(index)) is not None:
            labels.append(tree | {"id": label["id"]})
    return labels


def _change(each: Change, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    row = None if each.image is None else rows[each.image]
    label = None if row is None or each.annotation is None else row["labels"][each.annotation]["id"]
    return {"kind": each.kind, "ordinal": None if row is None else row["ordinal"], "object": label, "done": each.done}


def main() -> None:
    """Answers the question on standard input."""
    end_with_parent()
    json.dump(fixed(json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()
