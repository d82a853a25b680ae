"""Groups of images that a split must keep together, such as the frames of a video."""

import re
from collections.abc import Callable, Iterable, Sequence

from cvzoo.datasets.doctor.check_duplicates import check_duplicates
from cvzoo.datasets.doctor.image_facts import many_image_facts
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage
from cvzoo.errors.exceptions import ConfigError


def image_groups(
    images: Sequence[AnnotatedImage],
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
    parents = list(range(len(images)))  # a union-find forest

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
        join(_found_in_names(images, pattern))
    if column is not None:
        join(_values(images, column))
    if look_alikes:
        facts = []
        for each in many_image_facts(image.path for image in images):
            facts.append(each)
            if step is not None:
                step()
        indices: dict[str | None, int] = {image.name: i for i, image in enumerate(images)}
        for finding in check_duplicates(images, facts):
            for other in finding.others:
                parents[root(indices[finding.image])] = root(indices[other])
    return [root(i) for i in range(len(images))]


def _found_in_names(images: Sequence[AnnotatedImage], pattern: str) -> list[str | None]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"{pattern!r} is not a valid regular expression", got=error) from error
    matches = [compiled.search(image.name) for image in images]
    if not any(matches):
        example = images[0].name if images else None
        raise ConfigError(f"no image's name matches {pattern!r}", got=example, hint="such as '^(video[0-9]+)_'")
    return [None if each is None else each.group(1 if compiled.groups else 0) for each in matches]


def _values(images: Sequence[AnnotatedImage], column: str) -> list[str | None]:
    values = [image.extra.get(column) for image in images]
    if all(value is None for value in values):
        known = sorted({key for image in images for key in image.extra})
        raise ConfigError(f"no image's record has a field {column!r}", expected=" or ".join(known[:20]) or None)
    return [None if value is None else repr(value) for value in values]
