"""Distinct colors of classes."""

import colorsys
import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from PIL import ImageColor

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.typing.aliases import LabelNames

# Multiples of the golden ratio never repeat and keep consecutive hues far apart
_TURN = 0.618033988749895
RGB: TypeAlias = tuple[int, int, int]  # in [0, 255]
Color: TypeAlias = str | Sequence[float]  # a name of CSS ("red"), "#ff8800", or (R, G, B) in [0, 255]
# one color per class in order of label, repeated if they are fewer; or those of some classes, by name
Colors: TypeAlias = Sequence[Color] | Mapping[str, Color]

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


def as_rgb(color: Color) -> RGB:
    """(R, G, B) integers in [0, 255]. Raises ValueRangeError for a color that does not exist."""
    if isinstance(color, str):
        try:
            red, green, blue, *_ = ImageColor.getrgb(color)
        except ValueError:
            near = difflib.get_close_matches(color.lower(), ImageColor.colormap, n=1)
            raise ValueRangeError(
                f"there is no color {color!r}",
                expected="a name such as red, or #ff8800",
                hint=f"did you mean {near[0]}?" if near else None,
            ) from None
        return red, green, blue
    values = tuple(round(float(part)) for part in color)
    if len(values) != 3 or min(values) < 0 or max(values) > 255:
        raise ValueRangeError("a color is (R, G, B) in [0, 255]", got=tuple(color))
    return values


def class_color(colors: Colors | None, label_names: LabelNames | None) -> Callable[[int], RGB]:
    """A function that returns the color of a label: that of `colors`, otherwise `label_color`.

    Raises ValueRangeError for a color, or the name of a class, that does not exist, and for no colors.
    """
    if colors is None:
        return label_color
    if not colors or isinstance(colors, str):
        raise ValueRangeError("colors must be a list of colors, or a dict of colors by class name", got=colors)
    if not isinstance(colors, Mapping):
        given = [as_rgb(each) for each in colors]
        return lambda label: given[label % len(given)]
    by_name = {name: as_rgb(color) for name, color in colors.items()}
    names = label_names
    if names is not None:
        for name in by_name:
            check_class_name(name, names)
    return lambda label: by_name.get(str(label) if names is None else names[label], label_color(label))


def check_class_name(name: str, label_names: LabelNames) -> None:
    """Raises ValueRangeError, with the most similar class, unless the name is one of a class."""
    if name not in label_names:
        same = [each for each in label_names if each.casefold() == name.casefold()]
        near = same or difflib.get_close_matches(name, label_names, n=1)
        raise ValueRangeError(
            f"there is no class {name!r}",
            expected=", ".join(label_names),
            hint=f"did you mean {near[0]}?" if near else None,
        )
