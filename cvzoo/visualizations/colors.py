"""Colours that tell labels apart."""

import colorsys

# The golden ratio's turn never repeats and keeps neighbours far apart on the wheel
_TURN = 0.618033988749895
_SHADES = ((0.85, 0.95), (0.65, 1.0), (0.95, 0.75))


def label_color(label):
    """The colour of a class: (R, G, B) integers in [0, 255], the same in every picture, far from its neighbours'.

    label: a non-negative integer
    """
    hue = (label * _TURN + 0.02) % 1
    saturation, value = _SHADES[label % len(_SHADES)]
    return tuple(round(255 * part) for part in colorsys.hsv_to_rgb(hue, saturation, value))


def ink_on(color):
    """Black or white, whichever reads better on the colour: the one with the higher contrast ratio of WCAG 2.1."""
    return (0, 0, 0) if luminance(color) > 0.179 else (255, 255, 255)


def luminance(color):
    """Relative luminance of an (R, G, B) in [0, 255], in [0, 1]. Source: WCAG 2.1, definition of relative luminance."""
    linear = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
