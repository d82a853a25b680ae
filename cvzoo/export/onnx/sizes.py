"""Sizes that are seen in several probes, and how one follows from others."""

import itertools
import math
from collections.abc import Mapping
from typing import NamedTuple

from cvzoo.errors.exceptions import UnsupportedError

Sizes = tuple[int, ...]  # one number a probe


class SizeDependenceError(UnsupportedError):
    """Something changes with the batch or the image's size in a way that the file could not repeat."""


class Sources(NamedTuple):
    """The product of the axes' sizes, times `times`, divided by `over` without a remainder, `plus` a number.

    places: names of values, and which of their axes
    """

    places: tuple[tuple[str, int], ...]
    times: int = 1
    over: int = 1
    plus: int = 0


def is_fixed(sizes: Sizes) -> bool:
    """Whether it was the same in all probes."""
    return len(set(sizes)) == 1


def find_sources(sizes: Sizes, places: Mapping[Sizes, tuple[str, int]]) -> Sources | None:
    """How to compute the sizes from those of `places`; the simplest way, None if none of the simple ones does.

    It is inferred from a few probes, which is why their sizes are chosen so that they agree for no other reason.
    """
    if sizes in places:
        return Sources((places[sizes],))
    for known, place in places.items():
        factor = _ratio(sizes, known)
        if factor is not None:
            return Sources((place,), *factor)
    for known, place in places.items():
        steps = {a - b for a, b in zip(sizes, known)}
        if len(steps) == 1:
            return Sources((place,), plus=steps.pop())
    for (a, place), (b, other) in itertools.combinations_with_replacement(places.items(), 2):
        factor = _ratio(sizes, tuple([i * j for i, j in zip(a, b)]))
        if factor is not None:
            return Sources((place, other), *factor)
    return None


def _ratio(sizes: Sizes, known: Sizes) -> tuple[int, int] | None:
    """(times, over) that make `sizes` of `known` in every probe."""
    if not known[0] or any(a * known[0] != b * sizes[0] for a, b in zip(sizes, known)):
        return None
    common = math.gcd(sizes[0], known[0])
    return sizes[0] // common, known[0] // common
