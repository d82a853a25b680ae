"""Examines a data set: all checks together."""

import collections
import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from cvzoo.datasets.doctor.check_boxes import check_boxes
from cvzoo.datasets.doctor.check_classes import check_classes
from cvzoo.datasets.doctor.check_duplicates import check_duplicates
from cvzoo.datasets.doctor.check_files import check_files
from cvzoo.datasets.doctor.check_images import boxes_are_as_stored, check_image
from cvzoo.datasets.doctor.check_masks import check_masks
from cvzoo.datasets.doctor.coordinate_faults import EXPLAINING, find_coordinate_faults
from cvzoo.datasets.doctor.fault import Fault, Severity
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.image_facts import ImageFacts, many_image_facts
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedSet
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
    facts: tuple[ImageFacts | None, ...]
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
            "photos": len(self.annotated.images),
            "objects": sum(len(image.objects) for image in self.annotated.images),
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
    annotated = read_annotated_set(spec)
    if start is not None:
        start(len(annotated.images))
    facts: list[ImageFacts | None] = []
    for file_facts in many_image_facts(image.path for image in annotated.images):
        facts.append(file_facts)
        if step is not None:
            step()
    findings = examine_annotated_set(annotated, facts)
    return Checkup(spec, annotated, tuple(facts), tuple(each for each in findings if each.kind not in ignore))


def examine_annotated_set(
    annotated: AnnotatedSet, facts: Sequence[ImageFacts | None], *, duplicates: bool = True
) -> tuple[Finding, ...]:
    """The findings of a data set whose images have been looked at: its own, and those of all checks, sorted.

    facts: properties of each image file, None if it does not exist
    duplicates: whether to compare the images with each other, which takes half a minute for 100,000
    """
    findings = list(annotated.findings)
    findings += check_files(annotated)
    findings += check_classes(annotated)
    unsafe = {each.image for each in findings if each.kind is Fault.NAME_UNSAFE}
    for image, file_facts in zip(annotated.images, facts):
        if file_facts is not None or image.name not in unsafe:  # unsafe paths are not opened, but that is no fault
            findings += check_image(image, file_facts, annotated.kind)
    sizes = [annotation_size(image, file_facts) for image, file_facts in zip(annotated.images, facts)]
    misread = list(find_coordinate_faults(annotated, sizes))
    findings += misread
    explained = {each.image for each in misread if each.kind in EXPLAINING}
    whole = {each.kind for each in misread if each.image is None}
    for image, size in zip(annotated.images, sizes):
        findings += check_boxes(
            image,
            size,
            last_pixel=int(annotated.kind == "voc" and annotated.base == 1),
            skip_outside=image.name in explained,
            ignore=whole,
        )
        findings += check_masks(image, size)
    if duplicates:
        findings += check_duplicates(annotated.images, facts)
    return tuple(sorted_findings(findings))


def annotation_size(image: AnnotatedImage, facts: ImageFacts | None) -> tuple[int, int] | None:
    """(H, W) that the annotations refer to: the image's own, or the stated one if it cannot be read."""
    if facts is None or facts.size is None:
        return image.size if image.size is not None and min(image.size) > 0 else None
    return facts.stored_size if boxes_are_as_stored(image, facts) else facts.size


def sorted_findings(findings: Iterable[Finding]) -> list[Finding]:
    """The findings without repetitions: errors first, then warnings, then notes; grouped by kind."""
    severities = list(Severity)
    kinds = list(Fault)
    # overlapping files of annotations yield the same finding twice
    unique = dict.fromkeys(findings)
    return sorted(unique, key=lambda each: (severities.index(each.severity), kinds.index(each.kind)))
