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
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedSet
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
    image: str | None
    annotation: int | None
    done: str

    @property
    def photo(self) -> str | None:
        """The former name of `image`."""
        return self.image

    def __str__(self) -> str:
        where = "the data set" if self.image is None else self.image
        where += "" if self.annotation is None else f", object {self.annotation}"
        return f"{where}: {self.kind}: {self.done}"

    def to_record(self) -> dict[str, Any]:
        return {"kind": self.kind, "photo": self.image, "annotation": self.annotation, "done": self.done}


@dataclasses.dataclass(frozen=True)
class Fixed:
    """The result of `fix`.

    annotated: the corrected data set; as_stored: names of its images whose EXIF orientation is to be reset in the copy
    changes: all changes, image by image
    """

    annotated: AnnotatedSet
    as_stored: frozenset[str]
    changes: tuple[Change, ...]


def fix(checkup: Checkup, *, only_found: bool = False) -> Fixed:
    """The corrected data set in memory; no file is changed.

    Every finding whose kind has a fix is fixed; the others need a human decision.
    only_found: an object is changed only as the findings about it say; otherwise, all boxes are also brought into their
        images, be there findings that say so or not
    """
    annotated = checkup.annotated
    by_image: dict[str | None, list[Finding]] = collections.defaultdict(list)
    for each in checkup.findings:
        by_image[each.image].append(each)
    whole = {each.kind for each in by_image[None]}
    changes: list[Change] = []
    renamed = common_spelling(annotated) if Fault.CLASS_NAMES_ALIKE in whole else {}
    for old, new in renamed.items():
        changes.append(Change(Fault.CLASS_NAMES_ALIKE.slug, None, None, f"{old!r} was renamed to {new!r}"))
    step = next((kind for kind in (Fault.ONE_BASED, Fault.ZERO_BASED) if kind in whole), None)
    if step is not None:
        changes.append(Change(step.slug, None, None, f"all boxes: {step.fix}"))
    known = {image.name for image in annotated.images}
    for each in checkup.findings:
        if each.kind in _OF_RECORDS and each.image not in known:
            changes.append(Change(each.kind.slug, each.image, each.annotation, f"{each.kind.fix}: {each.message}"))
    images, as_stored = [], set()
    for image, facts in zip(annotated.images, checkup.facts):
        size = annotation_size(image, facts)
        findings = by_image[image.name]
        fixed = _fix_image(image, size, findings, annotated, renamed, step, changes, only_found=only_found)
        if fixed is None:
            continue
        if any(each.kind is Fault.EXIF_ROTATION for each in by_image[image.name]):
            if facts is not None and facts.format in ("JPEG", "MPO"):
                as_stored.add(image.name)
                changes.append(Change(Fault.EXIF_ROTATION.slug, image.name, None, str(Fault.EXIF_ROTATION.fix)))
            else:
                changes.append(Change(Fault.EXIF_ROTATION.slug, image.name, None, "not fixed: not a JPEG"))
        images.append(fixed)
    kept = {image.name for image in images}
    for each in checkup.findings:
        if each.kind in (Fault.LISTED_MISSING, Fault.ANNOTATION_MISSING) and each.image not in kept:
            changes.append(Change(each.kind.slug, each.image, None, str(each.kind.fix).split(";")[0]))
    names = _class_names(annotated, renamed)
    annotated = dataclasses.replace(annotated, images=tuple(images), names=names, findings=())
    return Fixed(annotated, frozenset(as_stored), tuple(dict.fromkeys(changes)))


def _class_names(annotated: AnnotatedSet, renamed: Mapping[str, str]) -> tuple[str, ...] | None:
    if annotated.names is None:
        return None
    named = [name or f"class_{number}" for number, name in enumerate(annotated.names)]
    return tuple(dict.fromkeys(renamed.get(name, name) for name in named))


def _fix_image(
    image: AnnotatedImage,
    size: Size | None,
    findings: Sequence[Finding],
    annotated: AnnotatedSet,
    renamed: Mapping[str, str],
    step: Fault | None,
    changes: list[Change],
    *,
    only_found: bool,
) -> AnnotatedImage | None:
    """The corrected image, None if it is dropped."""

    def log(kind: Fault, words: str | None, annotation: int | None = None) -> None:
        changes.append(Change(kind.slug, image.name, annotation, str(words)))

    kinds = {each.kind: each for each in findings}
    fatal = next((kind for kind in _DROP_PHOTO if kind in kinds), None)
    if fatal is None and Fault.ANNOTATION_MISSING in kinds and annotated.kind != "yolo":
        fatal = Fault.ANNOTATION_MISSING
    if fatal is not None:
        log(fatal, f"image and annotations dropped: {kinds[fatal].message}")
        return None
    if image.path is None:  # the finding is ignored on request
        log(Fault.PHOTO_MISSING, Fault.PHOTO_MISSING.fix)
        return None
    splits = image.splits
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
    for each in image.objects:
        new = fix_object(
            each,
            size,
            of_object[each.index],
            meaning=meaning,
            step=step,
            last_pixel=int(annotated.kind == "voc" and annotated.base == 1),
            only_found=only_found,
            log=log,
        )
        if new is not None:
            name = new.name if new.name is None else renamed.get(new.name, new.name)
            objects.append(dataclasses.replace(new, name=name))
    for index in sorted(index for index in of_object if index is not None):
        if Fault.FIELD_MALFORMED in of_object[index] and all(each.index != index for each in image.objects):
            log(Fault.FIELD_MALFORMED, "dropped", index)
    return dataclasses.replace(image, size=size, splits=splits, objects=tuple(objects))
