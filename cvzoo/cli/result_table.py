"""Detections in an image as a table for a terminal."""

from collections.abc import Sequence
from typing import Any

_SIDES = ("y_min", "x_min", "y_max", "x_max")


def result_table(image: str, objects: Sequence[dict[str, Any]]) -> str:
    """Lines of text: the image's name, then a row per object with its label, score and box in pixels.

    objects: dictionaries with label, name, score, y_min, x_min, y_max, x_max, as of `photo_record`
    """
    if not objects:
        return f"{printable(image)}\n  nothing found"
    names = [printable(str(each["label"] if each["name"] is None else each["name"])) for each in objects]
    width = max(len("label"), *map(len, names))
    lines = [printable(image), f"  {'label':<{width}}  score" + "".join(f"  {side:>7}" for side in _SIDES)]
    for name, each in zip(names, objects):
        lines.append(f"  {name:<{width}}  {each['score']:5.2f}" + "".join(f"  {each[side]:7.1f}" for side in _SIDES))
    return "\n".join(lines)


def printable(text: str) -> str:
    """The text with unprintable characters escaped, which file names may contain."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
