"""The order of Pillow's horizontal and vertical resize passes; it rounds in between, so the order changes the bits."""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from PIL import Image

_Rule: TypeAlias = Callable[[Sequence[int], Sequence[int]], bool]


def rows_first(in_size: Sequence[int], size: Sequence[int]) -> bool | None:
    """Whether this Pillow's first pass from in_size (H, W) to size is the horizontal one; None if unknown."""
    rule = _rule()
    return None if rule is None else rule(in_size, size)


def _always(in_size: Sequence[int], size: Sequence[int]) -> bool:
    """Up to Pillow 12."""
    return True


def _unless_mostly_lower(in_size: Sequence[int], size: Sequence[int]) -> bool:
    """From Pillow 13: vertical first if the height shrinks, by more than twice the pixels of the width."""
    lower, narrower = (old - new for old, new in zip(in_size, size))
    return not (lower > 0 and lower > 2 * narrower)


@functools.cache
def _rule() -> _Rule | None:
    """The rule that predicts the bits of this Pillow on small images of all aspect ratios; None if none does."""
    for rule in (_unless_mostly_lower, _always):
        if all(_predicts(rule, *sides) for sides in itertools.product((9, 20, 31), (10, 20, 31), (6, 16, 33), (7, 33))):
            return rule
    return None


def _predicts(rule: _Rule, height: int, width: int, new_height: int, new_width: int) -> bool:
    noise = np.random.default_rng(0).integers(0, 256, (height, width)).astype(np.uint8)
    image, resampling = Image.fromarray(noise), Image.Resampling.BILINEAR
    first = (new_width, height) if rule((height, width), (new_height, new_width)) else (width, new_height)
    in_passes = image.resize(first, resampling).resize((new_width, new_height), resampling)
    return in_passes.tobytes() == image.resize((new_width, new_height), resampling).tobytes()
