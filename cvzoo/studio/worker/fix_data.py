"""What the doctor's fixes make of images, in a process of its own, as the server does not compute with arrays.

`python -m cvzoo.studio.worker.fix_data` reads a question from standard input, and does what `fixed` says.
"""

import dataclasses
import json
import pathlib
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from cvzoo.datasets.doctor.coordinate_faults import EXPLAINING
from cvzoo.datasets.doctor.examine_dataset import Checkup
from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.fix import Change, Fixed, fix
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedSet
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.studio.data.labels import image_from_json, in_coco, object_to_json
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.worker.check_data import known_facts
from cvzoo.studio.worker.parent import end_with_parent

_FAULTS = {each.slug: each for each in Fault}
_LEAK = Fault.PHOTO_DUPLICATE_SPLIT.slug  # an image has one split, which it loses


def fixed(asked: Mapping[str, Any]) -> None:
    """Writes what changes into the file "fixed", as of `fixed_lines`, image by image.

    asked: "images", the store's folder, and the files "fixed", "rows", as of `item_line`, and "findings", "kind",
        "message", "ordinal" and "object" of each; ordinal None: of all images
    """
    store = ImageStore(pathlib.Path(asked["images"]))
    findings: dict[int | None, list[dict[str, Any]]] = defaultdict(list)
    with open(asked["findings"], encoding="utf-8") as lines:
        for line in lines:
            each = json.loads(line)
            findings[each["ordinal"]].append(each)
    with open(asked["rows"], encoding="utf-8") as rows, open(asked["fixed"], "w", encoding="utf-8") as out:
        for tree in fixed_lines(map(json.loads, rows), findings, store):
            out.write(f"{json.dumps(tree)}\n")


def fixed_lines(
    rows: Iterator[dict[str, Any]], findings: Mapping[int | None, Sequence[Mapping[str, Any]]], store: ImageStore
) -> Iterator[dict[str, Any]]:
    """{"ordinal", "changes": [{"kind", "ordinal", "name", "object", "done"}]} of images of which there are changes.

    With "labels" (None: it is deleted) and "split", if these change. ordinal None: changes of all images, before them
    findings: by ordinal, as of `fixed`
    """
    whole = [Finding(_FAULTS[each["kind"]], each["message"]) for each in findings.get(None, ())]
    told: set[Change] = set()  # changes of all images, which each one tells
    for row in rows:
        mine = findings.get(row["ordinal"], ())
        found = [_finding(each, row) for each in mine if each["kind"] != _LEAK]
        labels, changes = row["labels"], []
        if whole or found:
            image = image_from_json(row, store.image(row["sha256"]))
            if any(each.kind in EXPLAINING for each in found):
                image = in_coco(image)
            else:
                image = _with_faulty_objects(image, None if whole else {each.annotation for each in found})
            result = _fixed(image, row["sha256"], [*whole, *found], store)
            labels = _labels(row, image, _after(result))
            of_all = [each for each in result.changes if each.image is None and each not in told]
            if of_all:
                told.update(of_all)
                yield {"ordinal": None, "changes": [_change(each, row) for each in of_all]}
            changes = [_change(each, row) for each in result.changes if each.image is not None]
        is_leaking = labels is not None and any(each["kind"] == _LEAK for each in mine)
        if is_leaking:  # the image has one split, which it loses
            changes.append(_change(Change(_LEAK, row["name"], None, "removed from the training set"), row))
        tree = {"ordinal": row["ordinal"], "changes": changes}
        after = {"labels": labels, "split": "" if is_leaking else row["split"]}
        if any(row[key] != value for key, value in after.items()):
            yield tree | after
        elif changes:
            yield tree


def _fixed(image: AnnotatedImage, sha256: str, findings: Sequence[Finding], store: ImageStore) -> Fixed:
    annotated = AnnotatedSet(kind="coco", root=store.root, images=(image,), names=None)
    facts = known_facts(store, sha256)
    # what was waived, or not chosen, is not among the findings, and stays
    return fix(Checkup(DataSpec("coco", store.root), annotated, (facts,), tuple(findings)), only_found=True)


def _after(result: Fixed) -> AnnotatedImage | None:
    """The image after it, None if it is deleted."""
    clipped = {each.annotation for each in result.changes if each.kind == Fault.BOX_OUTSIDE.slug}
    return next((_with_clipped_polygons(image, clipped) for image in result.annotated.images), None)


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


def _with_clipped_polygons(image: AnnotatedImage, clipped: Collection[int | None]) -> AnnotatedImage:
    """The image, in which polygons end where their boxes were clipped: with it, as in the editor."""
    if image.size is None:
        return image
    limits = (float(image.size[1]), float(image.size[0]))
    objects = []
    for each in image.objects:
        if each.index in clipped:
            polygons = (
                tuple(min(max(value, 0.0), limits[i % 2]) for i, value in enumerate(polygon))
                for polygon in each.polygons
            )
            each = dataclasses.replace(each, polygons=tuple(polygons))
        objects.append(each)
    return dataclasses.replace(image, objects=tuple(objects))


def _labels(row: Mapping[str, Any], before: AnnotatedImage, after: AnnotatedImage | None) -> list[Any] | None:
    """The objects of the row, of which those that changed are as they are after it."""
    if after is None:
        return None
    old, new = ({each.index: each for each in image.objects} for image in (before, after))
    labels = []
    for index, label in enumerate(row["labels"]):
        if index not in old or new.get(index) == old[index]:
            labels.append(label)
        elif index in new and (tree := object_to_json(new[index])) is not None:
            labels.append(tree | {"id": label["id"]})
    return labels


def _change(each: Change, row: Mapping[str, Any]) -> dict[str, Any]:
    is_of_all = each.image is None
    where = {"ordinal": None if is_of_all else row["ordinal"], "name": "" if is_of_all else row["name"]}
    label = None if each.annotation is None else row["labels"][each.annotation]["id"]
    return {"kind": each.kind, **where, "object": label, "done": each.done}


def main() -> None:
    """Does what the question on standard input says; the answer is null."""
    end_with_parent()
    fixed(json.load(sys.stdin))
    print("null")


if __name__ == "__main__":
    main()
