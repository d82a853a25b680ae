"""Sizes of axes in several probes, and how a dynamic size is computed from others."""

import itertools
import math
from collections.abc import Mapping
from typing import NamedTuple

from cvzoo.errors.exceptions import UnsupportedError

Sizes = tuple[int, ...]  # of one axis, one per probe


class SizeDependenceError(UnsupportedError):
    """A size depends on the batch or image size in a way that ONNX operators cannot compute."""


class Sources(NamedTuple):
    """A size as a formula: the product of the sizes of `axes`, times `times`, divided by `over`, plus `plus`.

    axes: names of values, and which of their axes
    """

    axes: tuple[tuple[str, int], ...]
    times: int = 1
    over: int = 1
    plus: int = 0


def is_fixed(sizes: Sizes) -> bool:
    """Whether the size was the same in all probes."""
    return len(set(sizes)) == 1


def find_sources(sizes: Sizes, axes: Mapping[Sizes, tuple[str, int]]) -> Sources | None:
    """The simplest formula that computes the sizes from those of `axes`; None if there is none.

    It is inferred from a few probes, whose sizes are chosen so that no formula fits by coincidence.
    """
    if sizes in axes:
        return Sources((axes[sizes],))
    for known, axis in axes.items():
        factor = _ratio(sizes, known)
        if factor is not None:
            return Sources((axis,), *factor)
    for known, axis in axes.items():
        steps = {a - b for a, b in zip(sizes, known)}
        if len(steps) == 1:
            return Sources((axis,), plus=steps.pop())
    for (a, axis), (b, other_axis) in itertools.combinations_with_replacement(axes.items(), 2):
        factor = _ratio(sizes, tuple([i * j for i, j in zip(a, b)]))
        if factor is not None:
            return Sources((axis, other_axis), *factor)
    return None


def _ratio(sizes: Sizes, known: Sizes) -> tuple[int, int] | None:
    """(times, over) with sizes == known * times / over in every probe; None if there is none."""
    if not known[0] or any(a * known[0] != b * sizes[0] for a, b in zip(sizes, known)):
        return None
    common = math.gcd(sizes[0], known[0])
    return sizes[0] // common, known[0] // common
