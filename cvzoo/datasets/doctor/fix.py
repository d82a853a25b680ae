"""Corrects a data set in memory, as far as that can be automated, with a list of the changes."""

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.datasets.doctor.check_classes import common_spelling
from cvzoo.datasets.doctor.coordinate_faults import EXPLAINING
from cvzoo.datasets.doctor.examine_dataset import Checkup, annotation_size
from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.fix_object import fix_object
from cvzoo.datasets.doctor.splits import is_training_split
from cvzoo.datasets.layouts.annotated_set import AnnotatedPhoto, AnnotatedSet
from cvzoo.typing.aliases import Size

_DROP_PHOTO = (
    Fault.PHOTO_MISSING,
    Fault.PHOTO_EMPTY,
    Fault.PHOTO_UNREADABLE,
    Fault.PHOTO_TRUNCATED,
    Fault.ANNOTATION_UNREADABLE,
    Fault.IMAGE_ID_DUPLICATE,
    Fault.NAME_UNSAFE,
)
_OF_RECORDS = (
    Fault.CLASS_DUPLICATE,
    Fault.CLASS_NAME_MISSING,
    Fault.FIELD_MALFORMED,
    Fault.FIELD_MISSING,
    Fault.PHOTO_AMBIGUOUS,
    Fault.IMAGE_ID_UNKNOWN,
)
_FROM_TRAIN = (Fault.IN_TWO_SPLITS, Fault.PHOTO_DUPLICATE_SPLIT)


@dataclasses.dataclass(frozen=True)
class Change:
    """One change: of which image (None: the data set), of which object of it, because of which fault, and what."""

    kind: str
    photo: str | None
    annotation: int | None
    done: str

    def __str__(self) -> str:
        where = "the data set" if self.photo is None else self.photo
        where += "" if self.annotation is None else f", object {self.annotation}"
        return f"{where}: {self.kind}: {self.done}"

    def to_record(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Fixed:
    """The result of `fix`.

    annotated: the corrected data set; as_stored: names of its images whose EXIF orientation is to be reset in the copy
    changes: all changes, image by image
    """

    annotated: AnnotatedSet
    as_stored: frozenset[str]
    changes: tuple[Change, ...]


def fix(checkup: Checkup) -> Fixed:
    """The corrected data set in memory; no file is changed.

    Every finding whose kind has a fix is fixed; the others need a human decision.
    """
    found = checkup.annotated
    by_photo: dict[str | None, list[Finding]] = collections.defaultdict(list)
    for each in checkup.findings:
        by_photo[each.photo].append(each)
    whole = {each.kind for each in by_photo[None]}
    changes: list[Change] = []
    renamed = common_spelling(found) if Fault.CLASS_NAMES_ALIKE in whole else {}
    for old, new in renamed.items():
        changes.append(Change(Fault.CLASS_NAMES_ALIKE.slug, None, None, f"{old!r} was renamed to {new!r}"))
    step = next((kind for kind in (Fault.ONE_BASED, Fault.ZERO_BASED) if kind in whole), None)
    if step is not None:
        changes.append(Change(step.slug, None, None, f"all boxes: {step.fix}"))
    known = {photo.name for photo in found.photos}
    for each in checkup.findings:
        if each.kind in _OF_RECORDS and each.photo not in known:
            changes.append(Change(each.kind.slug, each.photo, each.annotation, f"{each.kind.fix}: {each.message}"))
    photos, as_stored = [], set()
    for photo, facts in zip(found.photos, checkup.facts):
        size = annotation_size(photo, facts)
        fixed = _fix_photo(photo, size, by_photo[photo.name], found, renamed, step, changes)
        if fixed is None:
            continue
        if any(each.kind is Fault.EXIF_ROTATION for each in by_photo[photo.name]):
            if facts is not None and facts.format in ("JPEG", "MPO"):
                as_stored.add(photo.name)
                changes.append(Change(Fault.EXIF_ROTATION.slug, photo.name, None, str(Fault.EXIF_ROTATION.fix)))
            else:
                changes.append(Change(Fault.EXIF_ROTATION.slug, photo.name, None, "not fixed: not a JPEG"))
        photos.append(fixed)
    kept = {photo.name for photo in photos}
    for each in checkup.findings:
        if each.kind in (Fault.LISTED_MISSING, Fault.ANNOTATION_MISSING) and each.photo not in kept:
            changes.append(Change(each.kind.slug, each.photo, None, str(each.kind.fix).split(";")[0]))
    names = _class_names(found, renamed)
    annotated = dataclasses.replace(found, photos=tuple(photos), names=names, findings=())
    return Fixed(annotated, frozenset(as_stored), tuple(dict.fromkeys(changes)))


def _class_names(found: AnnotatedSet, renamed: Mapping[str, str]) -> tuple[str, ...] | None:
    if found.names is None:
        return None
    named = [name or f"class_{number}" for number, name in enumerate(found.names)]
    return tuple(dict.fromkeys(renamed.get(name, name) for name in named))


def _fix_photo(
    photo: AnnotatedPhoto,
    size: Size | None,
    findings: Sequence[Finding],
    found: AnnotatedSet,
    renamed: Mapping[str, str],
    step: Fault | None,
    changes: list[Change],
) -> AnnotatedPhoto | None:
    """The corrected image, None if it is dropped."""

    def log(kind: Fault, words: str | None, annotation: int | None = None) -> None:
        changes.append(Change(kind.slug, photo.name, annotation, str(words)))

    kinds = {each.kind: each for each in findings}
    fatal = next((kind for kind in _DROP_PHOTO if kind in kinds), None)
    if fatal is None and Fault.ANNOTATION_MISSING in kinds and found.kind != "yolo":
        fatal = Fault.ANNOTATION_MISSING
    if fatal is not None:
        log(fatal, f"image and annotations dropped: {kinds[fatal].message}")
        return None
    if photo.path is None:  # the finding is ignored on request
        log(Fault.PHOTO_MISSING, Fault.PHOTO_MISSING.fix)
        return None
    splits = photo.splits
    for kind in _FROM_TRAIN:
        if kind in kinds and any(map(is_training_split, splits)):
            splits = tuple(split for split in splits if not is_training_split(split))
            log(kind, "removed from the training set" if splits else "dropped")
            if not splits:
                return None
    for kind in (Fault.SIZE_WRONG, Fault.SIZE_SWAPPED, Fault.SIZE_MISSING):
        if kind in kinds and size is not None:
            log(kind, f"the size was set to {size[0]} x {size[1]} (H x W)")
    for kind in (
        Fault.NAME_CASE,
        Fault.NAME_ENCODING,
        Fault.TEXT_ENCODING,
        Fault.FILE_NAME_DIFFERS,
        Fault.LISTED_TWICE,
        Fault.FILE_NAME_DUPLICATE,
    ):
        if kind in kinds:
            log(kind, kind.fix)
    meaning = next((kind for kind in EXPLAINING if kind in kinds), None)
    if meaning is not None and size is not None:
        log(meaning, f"boxes: {meaning.fix}")
    objects = []
    of_object: dict[int | None, set[Fault]] = collections.defaultdict(set)
    for finding in findings:
        of_object[finding.annotation].add(finding.kind)
    for each in photo.objects:
        new = fix_object(
            each,
            size,
            of_object[each.index],
            meaning=meaning,
            step=step,
            last_pixel=int(found.kind == "voc" and found.base == 1),
            log=log,
        )
        if new is not None:
            name = new.name if new.name is None else renamed.get(new.name, new.name)
            objects.append(dataclasses.replace(new, name=name))
    for index in sorted(index for index in of_object if index is not None):
        if Fault.FIELD_MALFORMED in of_object[index] and all(each.index != index for each in photo.objects):
            log(Fault.FIELD_MALFORMED, "dropped", index)
    return dataclasses.replace(photo, size=size, splits=splits, objects=tuple(objects))
