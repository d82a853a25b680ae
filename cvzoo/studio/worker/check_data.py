"""The doctor's findings of the images and annotations of a data set, without decoding an image again."""

import base64
import hashlib
import json
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.datasets.doctor.check_classes import check_classes
from cvzoo.datasets.doctor.check_duplicates import check_duplicates
from cvzoo.datasets.doctor.check_files import check_files
from cvzoo.datasets.doctor.check_images import check_image
from cvzoo.datasets.doctor.examine_dataset import examine_annotated_set, sorted_findings
from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.image_facts import HASH_SIDE, LOOK_SIDE, ImageFacts
from cvzoo.datasets.layouts.annotated_set import AnnotatedSet
from cvzoo.studio.data.labels import image_from_json
from cvzoo.studio.photos.imaging import read_facts
from cvzoo.studio.photos.store import ImageStore
from cvzoo.typing.aliases import Array

_FAULTS = {each.slug: each for each in Fault}


def annotated_set(order: Mapping[str, Any], rows: Sequence[dict[str, Any]], kind: str = "coco") -> AnnotatedSet:
    """The data set of the rows. order: "images", the store's folder, "classes" and "extra"; kind: its layout"""
    store = ImageStore(pathlib.Path(order["images"]))
    names = tuple(order["classes"])
    known = {each["name"]: each for each in order["extra"].get("categories", ()) if isinstance(each, dict)}
    categories = [known.get(name, {}) | {"id": i + 1, "name": name} for i, name in enumerate(names)]
    splits = dict.fromkeys(row["split"] for row in rows if row["split"])
    return AnnotatedSet(
        kind=kind,
        root=store.root,
        images=tuple(image_from_json(row, store.image(row["sha256"])) for row in rows),
        names=names,
        numbers=tuple(range(1, len(names) + 1)) if kind == "coco" else (),
        splits=tuple(sorted(splits, key=_split_order)),
        base=1 if kind == "voc" else 0,
        extra={"categories": categories},
    )


def check_items(order: Mapping[str, Any], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings of the rows, as `finding_to_json` has them.

    order: "task" too
    """
    store = ImageStore(pathlib.Path(order["images"]))
    facts = [known_facts(store, row["sha256"]) for row in rows]
    if order["task"] == "classes":
        findings = _check_classified(annotated_set(order, rows, "folder"), facts)
    else:
        findings = list(examine_annotated_set(annotated_set(order, rows), facts))
    by_name = {row["name"]: row for row in rows}
    return [finding_to_json(each, by_name, "check") for each in findings]


def _check_classified(annotated: AnnotatedSet, facts: Sequence[ImageFacts]) -> list[Finding]:
    """The findings of images with classes and without boxes."""
    findings = [*check_files(annotated), *check_classes(annotated)]
    for image, each in zip(annotated.images, facts):
        findings += check_image(image, each, annotated.kind)
        if not image.objects:
            findings.append(Finding(Fault.CLASS_MISSING, "the image has no class", image.name))
    findings += check_duplicates(annotated.images, facts)
    return sorted_findings(findings)


def finding_to_json(each: Finding, by_name: Mapping[str, dict[str, Any]], origin: str) -> dict[str, Any]:
    """The finding for the database. by_name: the rows of the images; origin: "import" or "check" """
    row = by_name.get(plain(each.image or ""))
    object_id = None
    if row is not None and each.annotation is not None and origin == "check":
        object_id = row["labels"][each.annotation]["id"]
    others = [by_name[name]["ordinal"] for name in map(plain, each.others) if name in by_name]
    message = plain(each.message if row is not None or each.image is None else f"{each.image}: {each.message}")
    identity = json.dumps([origin, each.kind.slug, plain(each.image or ""), object_id, message])
    return {
        "digest": hashlib.sha256(identity.encode()).hexdigest(),
        "origin": origin,
        "kind": each.kind.slug,
        "severity": each.severity.value,
        "meaning": each.kind.meaning,
        "message": message,
        "ordinal": None if row is None else row["ordinal"],
        "object": object_id,
        "others": others,
    }


def known_facts(store: ImageStore, sha256: str) -> ImageFacts:
    """The properties of an image that was looked at before."""
    tree = read_facts(store, sha256)
    if tree is None:
        return ImageFacts((Fault.PHOTO_UNREADABLE, "its properties are missing"), digest=bytes.fromhex(sha256))
    trouble = tree["trouble"]
    return ImageFacts(
        trouble=None if trouble is None else (_FAULTS[trouble[0]], trouble[1]),
        size=_pair(tree["size"]),
        stored_size=_pair(tree["stored_size"]),
        orientation=tree["orientation"],
        format=tree["format"],
        ending_fits=tree["ending_fits"],
        is_blank=tree["is_blank"],
        digest=bytes.fromhex(sha256),
        fingerprint=_array(tree["fingerprint"], (HASH_SIDE * HASH_SIDE // 8,)),
        look=_array(tree["look"], (LOOK_SIDE, LOOK_SIDE)),
    )


def n_open_error(findings: Iterable[Mapping[str, Any]], waived: Iterable[str]) -> int:
    """The number of errors that are not waived. waived: digests"""
    known = set(waived)
    return sum(each["severity"] == "error" and each["digest"] not in known for each in findings)


def _array(text: str | None, shape: tuple[int, ...]) -> Array | None:
    return None if text is None else np.frombuffer(base64.b64decode(text), np.uint8).reshape(shape)


def _pair(values: list[int] | None) -> tuple[int, int] | None:
    return None if values is None else (values[0], values[1])


def plain(text: str) -> str:
    """The text without what is not UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _split_order(name: str) -> tuple[int, str]:
    known = ("train", "val", "test")
    return (known.index(name), "") if name in known else (len(known), name)
