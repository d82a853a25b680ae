"""Photos that are there twice, exactly or nearly."""

import collections
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.doctor.near_duplicates import near_duplicates
from cvzoo.datasets.doctor.photo_facts import PhotoFacts
from cvzoo.datasets.doctor.splits import leak
from cvzoo.datasets.layouts.annotated_set import AnnotatedPhoto


def check_duplicates(
    photos: Sequence[AnnotatedPhoto], facts: Sequence[PhotoFacts | None], step: Callable[[], None] | None = None
) -> Iterator[Finding]:
    """One finding for each photo that repeats an earlier one, and for each pair that looks the same."""
    same = collections.defaultdict(list)
    for photo, each in zip(photos, facts):
        if each is not None and each.digest:
            same[each.digest].append(photo)
    for first, *others in same.values():
        for other in others:
            both = leak(first.splits, other.splits)
            if both is None:
                yield Finding(
                    Fault.PHOTO_DUPLICATE, f"the same bytes as {first.name}", other.name, others=(first.name,)
                )
            else:
                learned, scored = (first, other) if both[0] in first.splits else (other, first)
                words = f"in {both[0]}; the same bytes as {scored.name} in {both[1]}"
                yield Finding(Fault.PHOTO_DUPLICATE_SPLIT, words, learned.name, others=(scored.name,))
    usable = [i for i, each in enumerate(facts) if each is not None and each.fingerprint is not None]
    if not usable:
        return
    fingerprints = np.stack([facts[i].fingerprint for i in usable])
    looks = np.stack([facts[i].look for i in usable])
    for a, b in near_duplicates(fingerprints, looks, step):
        i, j = usable[a], usable[b]
        if facts[i].digest == facts[j].digest:
            continue
        both = leak(photos[i].splits, photos[j].splits)
        if both is None:
            words = f"looks like {photos[i].name}"
            yield Finding(Fault.PHOTO_NEAR_DUPLICATE, words, photos[j].name, others=(photos[i].name,))
        else:
            learned, scored = (i, j) if both[0] in photos[i].splits else (j, i)
            words = f"in {both[0]}; looks like {photos[scored].name} in {both[1]}"
            yield Finding(Fault.PHOTO_NEAR_DUPLICATE_SPLIT, words, photos[learned].name, others=(photos[scored].name,))
