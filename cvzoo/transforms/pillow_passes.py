"""In which order Pillow resizes along rows and along columns; it rounds in between, so the order shows in the bits."""

import functools
import itertools

import numpy as np
from PIL import Image


def rows_first(in_size, size):
    """Whether this Pillow resizes a photo from in_size (H, W) to size along its rows first; None if nobody knows."""
    rule = _rule()
    return None if rule is None else rule(in_size, size)


def _always(in_size, size):
    """Up to Pillow 12."""
    return True


def _unless_mostly_lower(in_size, size):
    """From Pillow 13: along columns first if the height shrinks, by more than twice the pixels of the width."""
    lower, narrower = (old - new for old, new in zip(in_size, size))
    return not (lower > 0 and lower > 2 * narrower)


@functools.cache
def _rule():
    """The rule that foretells the bits of this Pillow in small photos of all proportions, or None if none does."""
    for rule in (_unless_mostly_lower, _always):
        if all(
            _foretells(rule, *sides) for sides in itertools.product((9, 20, 31), (10, 20, 31), (6, 16, 33), (7, 33))
        ):
            return rule
    return None


def _foretells(rule, height, width, new_height, new_width):
    noise = np.random.default_rng(0).integers(0, 256, (height, width)).astype(np.uint8)
    photo, resampling = Image.fromarray(noise), Image.Resampling.BILINEAR
    first = (new_width, height) if rule((height, width), (new_height, new_width)) else (width, new_height)
    in_passes = photo.resize(first, resampling).resize((new_width, new_height), resampling)
    return in_passes.tobytes() == photo.resize((new_width, new_height), resampling).tobytes()
