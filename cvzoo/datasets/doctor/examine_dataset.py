"""Examines a data set: all checks together."""

import collections
import dataclasses
from collections.abc import Callable, Collection, Iterable
from typing import Any

from cvzoo.datasets.doctor.check_boxes import check_boxes
from cvzoo.datasets.doctor.check_classes import check_classes
from cvzoo.datasets.doctor.check_duplicates import check_duplicates
from cvzoo.datasets.doctor.check_files import check_files
from cvzoo.datasets.doctor.check_masks import check_masks
from cvzoo.datasets.doctor.check_photos import boxes_are_as_stored, check_photo
from cvzoo.datasets.doctor.coordinate_faults import EXPLAINING, find_coordinate_faults
from cvzoo.datasets.doctor.fault import Fault, Severity
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.photo_facts import PhotoFacts, many_photo_facts
from cvzoo.datasets.layouts.annotated_set import AnnotatedPhoto, AnnotatedSet
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.layouts.read import read_annotated_set


@dataclasses.dataclass(frozen=True)
class Checkup:
    """The result of `examine_dataset`.

    spec: its specification; annotated: the data set
    facts: properties of each image file, None if it does not exist
    findings: errors first, then warnings, then notes; grouped by kind, in the order of the images
    """

    spec: DataSpec
    annotated: AnnotatedSet
    facts: tuple[PhotoFacts | None, ...]
    findings: tuple[Finding, ...]

    @property
    def is_clean(self) -> bool:
        """Whether there are only notes."""
        return all(each.severity is Severity.NOTE for each in self.findings)

    def counts(self) -> dict[Fault, int]:
        """The number of findings of each kind of fault, in the order of the findings."""
        return dict(collections.Counter(each.kind for each in self.findings))

    def to_record(self) -> dict[str, Any]:
        """All findings as a dictionary for JSON."""
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
    """Examines a data set for faults, without changing it; faults of the data are returned, not raised.

    ignore: kinds of faults to leave out
    start: called with the number of images; step: called after each image
    Raises DatasetError, ConfigError or OSError if there is nothing to examine.
    """
    found = read_annotated_set(spec)
    if start is not None:
        start(len(found.photos))
    findings = list(found.findings)
    findings += check_files(found)
    findings += check_classes(found)
    facts: list[PhotoFacts | None] = []
    for file_facts in many_photo_facts(photo.path for photo in found.photos):
        facts.append(file_facts)
        if step is not None:
            step()
    unsafe = {each.photo for each in findings if each.kind is Fault.NAME_UNSAFE}
    for photo, file_facts in zip(found.photos, facts):
        if file_facts is not None or photo.name not in unsafe:  # unsafe paths are not opened, but that is no fault
            findings += check_photo(photo, file_facts, found.kind)
    sizes = [annotation_size(photo, file_facts) for photo, file_facts in zip(found.photos, facts)]
    misread = list(find_coordinate_faults(found, sizes))
    findings += misread
    explained = {each.photo for each in misread if each.kind in EXPLAINING}
    whole = {each.kind for each in misread if each.photo is None}
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
    """(H, W) that the annotations refer to: the image's own, or the stated one if it cannot be read."""
    if facts is None or facts.size is None:
        return photo.size if photo.size is not None and min(photo.size) > 0 else None
    return facts.stored_size if boxes_are_as_stored(photo, facts) else facts.size


def _sorted(findings: Iterable[Finding]) -> list[Finding]:
    severities = list(Severity)
    kinds = list(Fault)
    # overlapping files of annotations yield the same finding twice
    unique = dict.fromkeys(findings)
    return sorted(unique, key=lambda each: (severities.index(each.severity), kinds.index(each.kind)))
