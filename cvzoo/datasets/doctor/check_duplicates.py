"""Finds duplicates and near-duplicates of images."""

import collections
from collections.abc import Iterator, Sequence

import numpy as np

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.image_facts import ImageFacts
from cvzoo.datasets.doctor.near_duplicates import near_duplicates
from cvzoo.datasets.doctor.splits import leak
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage


def check_duplicates(images: Sequence[AnnotatedImage], facts: Sequence[ImageFacts | None]) -> Iterator[Finding]:
    """One finding for each image that is a copy of an earlier one, and for each pair of near-duplicates."""
    yield from check_copies(images, [b"" if each is None else each.digest for each in facts])
    decoded = [
        (image, each.digest, each.fingerprint, each.look)
        for image, each in zip(images, facts)
        if each is not None and each.fingerprint is not None and each.look is not None
    ]
    if not decoded:
        return
    fingerprints = np.stack([fingerprint for _, _, fingerprint, _ in decoded])
    looks = np.stack([look for _, _, _, look in decoded])
    for a, b in near_duplicates(fingerprints, looks):
        (first, digest, *_), (other, other_digest, *_) = decoded[a], decoded[b]
        if digest != other_digest:
            yield near_duplicate(first, other)


def check_copies(images: Sequence[AnnotatedImage], digests: Sequence[bytes]) -> Iterator[Finding]:
    """One finding for each image that is a copy of an earlier one. digests: SHA-256 of the files, b"" if unknown"""
    same = collections.defaultdict(list)
    for image, digest in zip(images, digests):
        if digest:
            same[digest].append(image)
    for first, *others in same.values():
        for other in others:
            both = leak(first.splits, other.splits)
            if both is None:
                yield Finding(
                    Fault.PHOTO_DUPLICATE, f"the same bytes as {first.name}", other.name, others=(first.name,)
                )
            else:
                trained, evaluated = (first, other) if both[0] in first.splits else (other, first)
                words = f"in {both[0]}; the same bytes as {evaluated.name} in {both[1]}"
                yield Finding(Fault.PHOTO_DUPLICATE_SPLIT, words, trained.name, others=(evaluated.name,))


def near_duplicate(first: AnnotatedImage, other: AnnotatedImage) -> Finding:
    """The finding of two images that look alike, in the order of the data set."""
    both = leak(first.splits, other.splits)
    if both is None:
        return Finding(Fault.PHOTO_NEAR_DUPLICATE, f"looks like {first.name}", other.name, others=(first.name,))
    trained, evaluated = (first, other) if both[0] in first.splits else (other, first)
    words = f"in {both[0]}; looks like {evaluated.name} in {both[1]}"
    return Finding(Fault.PHOTO_NEAR_DUPLICATE_SPLIT, words, trained.name, others=(evaluated.name,))
