"""The doctor's whole examination."""

import collections
import dataclasses
from collections.abc import Callable, Collection
from typing import Any

from cvzoo.datasets.doctor.check_boxes import check_boxes
from cvzoo.datasets.doctor.check_classes import check_classes
from cvzoo.datasets.doctor.check_duplicates import check_duplicates
from cvzoo.datasets.doctor.check_files import check_files
from cvzoo.datasets.doctor.check_masks import check_masks
from cvzoo.datasets.doctor.check_photos import boxes_are_as_stored, check_photo
from cvzoo.datasets.doctor.fault import Fault, Severity
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.meanings import EXPLAINING, find_meanings
from cvzoo.datasets.doctor.photo_facts import PhotoFacts, many_photo_facts
from cvzoo.datasets.layouts.annotated_set import AnnotatedPhoto, AnnotatedSet
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.read import read_annotated_set


@dataclasses.dataclass(frozen=True)
class Checkup:
    """What the doctor found.

    spec: its place; annotated: the data set as it is
    facts: of each of its photos what its file is, None where it is not there
    findings: errors first, then warnings, then notes; those of one kind together, in the order of the photos
    """

    spec: DataSpec
    annotated: AnnotatedSet
    facts: tuple[PhotoFacts | None, ...]
    findings: tuple[Finding, ...]

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing but notes."""
        return all(each.severity is Severity.NOTE for each in self.findings)

    def counts(self) -> dict[Fault, int]:
        """How often each kind of fault was found, in the order of the findings."""
        return dict(collections.Counter(each.kind for each in self.findings))

    def to_record(self) -> dict[str, Any]:
        """All findings as a table ready for JSON."""
        return {
            "data": f"{self.annotated.kind}:{self.annotated.root}",
            "photos": len(self.annotated.photos),
            "objects": sum(len(photo.objects) for photo in self.annotated.photos),
            "classes": list(self.annotated.used_names()),
            "splits": list(self.annotated.splits),
            "counts": {kind.slug: n for kind, n in self.counts().items()},
            "findings": [each.to_record() for each in self.findings],
        }


def examine_dataset(
    spec: DataSpec,
    *,
    ignore: Collection[Fault] = (),
    start: Callable[[int], None] | None = None,
    step: Callable[[], None] | None = None,
) -> Checkup:
    """The doctor's findings on a data set. Files are read and nothing is changed; bad data is found, never raised.

    ignore: kinds that are not looked at
    start: called with the number of photos once it is known; step: called after each photo
    Raises DatasetError, ConfigError or OSError if there is nothing at all that could be examined.
    """
    found = read_annotated_set(spec)
    if start is not None:
        start(len(found.photos))
    findings = list(found.findings)
    findings += check_files(found)
    findings += check_classes(found)
    facts = []
    for each in many_photo_facts(photo.path for photo in found.photos):
        facts.append(each)
        if step is not None:
            step()
    unsafe = {each.photo for each in findings if each.kind is Fault.NAME_UNSAFE}
    for photo, each in zip(found.photos, facts):
        if each is not None or photo.name not in unsafe:  # what must not be opened is not missing
            findings += check_photo(photo, each, found.kind)
    sizes = [annotation_size(photo, each) for photo, each in zip(found.photos, facts)]
    meanings = list(find_meanings(found, sizes))
    findings += meanings
    explained = {each.photo for each in meanings if each.kind in EXPLAINING}
    whole = {each.kind for each in meanings if each.photo is None}
    for photo, size in zip(found.photos, sizes):
        findings += check_boxes(
            photo,
            size,
            last_pixel=int(found.kind == "voc" and found.base == 1),
            skip_outside=photo.name in explained,
            ignore=whole,
        )
        findings += check_masks(photo, size)
    findings += check_duplicates(found.photos, facts)
    return Checkup(spec, found, tuple(facts), tuple(_sorted(each for each in findings if each.kind not in ignore)))


def annotation_size(photo: AnnotatedPhoto, facts: PhotoFacts | None) -> tuple[int, int] | None:
    """(H, W) of the photo that the annotations are for: the photo's own; what they state where it cannot be read."""
    if facts is None or facts.size is None:
        return photo.size if photo.size is not None and min(photo.size) > 0 else None
    return facts.stored_size if boxes_are_as_stored(photo, facts) else facts.size


def _sorted(findings):
    severities = list(Severity)
    kinds = list(Fault)
    # a photo of two layers of records may be found twice in the same words
    unique = dict.fromkeys(findings)
    return sorted(unique, key=lambda each: (severities.index(each.severity), kinds.index(each.kind)))
