"""Which photos of a data set belong together, so that a split does not part them."""

import re
from collections.abc import Callable, Sequence

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
    """The number of each photo's group; a photo that belongs to no other has a group of its own.

    pattern: a regular expression; photos in whose names it finds the same text (its first group's, if it has one)
        belong together
    column: a field of the photos' records, such as "video_id"; photos with the same value belong together
    look_alikes: photos of the same bytes and near-duplicates belong together; every photo is decoded for that
    step: called after each photo that was decoded
    Raises ConfigError for a pattern that is none, or that no photo's name has, or a field that no record has.
    """
    above = list(range(len(photos)))

    def root(i):
        while above[i] != i:
            above[i] = above[above[i]]
            i = above[i]
        return i

    def join(keys):
        first: dict[object, int] = {}
        for i, key in enumerate(keys):
            if key is not None:
                above[root(i)] = root(first.setdefault(key, i))

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
        places = {photo.name: i for i, photo in enumerate(photos)}
        for finding in check_duplicates(photos, facts):
            for other in finding.others:
                above[root(places[finding.photo])] = root(places[other])
    return [root(i) for i in range(len(photos))]


def _found_in_names(photos, pattern):
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"{pattern!r} is no regular expression", got=error) from error
    found = [compiled.search(photo.name) for photo in photos]
    if not any(found):
        example = photos[0].name if photos else None
        raise ConfigError(f"no photo's name has {pattern!r} in it", got=example, hint="such as '^(video[0-9]+)_'")
    return [None if each is None else each.group(1 if compiled.groups else 0) for each in found]


def _values(photos, column):
    values = [photo.extra.get(column) for photo in photos]
    if all(value is None for value in values):
        known = sorted({key for photo in photos for key in photo.extra})
        raise ConfigError(f"no photo's record has a field {column!r}", expected=" or ".join(known[:20]) or None)
    return [None if value is None else repr(value) for value in values]
