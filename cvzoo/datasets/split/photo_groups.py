"""Groups of images that a split must keep together, such as the frames of a video."""

import re
from collections.abc import Callable, Iterable, Sequence

from cvzoo.datasets.doctor.check_duplicates import check_duplicates
from cvzoo.datasets.doctor.photo_facts import many_photo_facts
from cvzoo.datasets.layouts.annotated_set import AnnotatedPhoto
from cvzoo.errors.exceptions import ConfigError


def photo_groups(
    photos: Sequence[AnnotatedPhoto],
    *,
    pattern: str | None = None,
    column: str | None = None,
    look_alikes: bool = False,
    step: Callable[[], None] | None = None,
) -> list[int]:
    """The group index of each image; images without a relation to others form groups of their own.

    pattern: a regular expression; images whose names have the same match (of the first group, if it has one) are one
        group
    column: a field of the images' records, such as "video_id"; images with the same value are one group
    look_alikes: duplicates and near-duplicates are one group; every image is decoded to find them
    step: called after each image that was decoded
    Raises ConfigError for an invalid pattern, one without any match, or a field that no record has.
    """
    parents = list(range(len(photos)))  # a union-find forest

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    def join(keys: Iterable[object]) -> None:
        first: dict[object, int] = {}
        for i, key in enumerate(keys):
            if key is not None:
                parents[root(i)] = root(first.setdefault(key, i))

    if pattern is not None:
        join(_found_in_names(photos, pattern))
    if column is not None:
        join(_values(photos, column))
    if look_alikes:
        facts = []
        for each in many_photo_facts(photo.path for photo in photos):
            facts.append(each)
            if step is not None:
                step()
        indices: dict[str | None, int] = {photo.name: i for i, photo in enumerate(photos)}
        for finding in check_duplicates(photos, facts):
            for other in finding.others:
                parents[root(indices[finding.photo])] = root(indices[other])
    return [root(i) for i in range(len(photos))]


def _found_in_names(photos: Sequence[AnnotatedPhoto], pattern: str) -> list[str | None]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"{pattern!r} is not a valid regular expression", got=error) from error
    matches = [compiled.search(photo.name) for photo in photos]
    if not any(matches):
        example = photos[0].name if photos else None
        raise ConfigError(f"no image's name matches {pattern!r}", got=example, hint="such as '^(video[0-9]+)_'")
    return [None if each is None else each.group(1 if compiled.groups else 0) for each in matches]


def _values(photos: Sequence[AnnotatedPhoto], column: str) -> list[str | None]:
    values = [photo.extra.get(column) for photo in photos]
    if all(value is None for value in values):
        known = sorted({key for photo in photos for key in photo.extra})
        raise ConfigError(f"no image's record has a field {column!r}", expected=" or ".join(known[:20]) or None)
    return [None if value is None else repr(value) for value in values]
