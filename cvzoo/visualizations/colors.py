"""Distinct colors of classes."""

import colorsys
from collections.abc import Sequence
from typing import TypeAlias

# Multiples of the golden ratio never repeat and keep consecutive hues far apart
_TURN = 0.618033988749895
RGB: TypeAlias = tuple[int, int, int]  # in [0, 255]

_SHADES = ((0.85, 0.95), (0.65, 1.0), (0.95, 0.75))


def label_color(label: int) -> RGB:
    """The color of a class: (R, G, B) integers in [0, 255], always the same, and distinct from those of close labels.

    label: a non-negative integer
    """
    hue = (label * _TURN + 0.02) % 1
    saturation, value = _SHADES[label % len(_SHADES)]
    red, green, blue = colorsys.hsv_to_rgb(hue, saturation, value)
    return round(255 * red), round(255 * green), round(255 * blue)


def ink_on(color: Sequence[float]) -> RGB:
    """Black or white, whichever has the higher contrast ratio to the color by WCAG 2.1."""
    return (0, 0, 0) if luminance(color) > 0.179 else (255, 255, 255)


def luminance(color: Sequence[float]) -> float:
    """Relative luminance of an (R, G, B) in [0, 255], in [0, 1]. Source: WCAG 2.1, definition of relative luminance."""
    linear = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
