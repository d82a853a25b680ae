"""The classes of a data set: their colors, and what a change of them would do."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.studio.problems import Problem

COLORS = (
    *("#e6194b", "#3cb44b", "#4363d8", "#f58231", "#911eb4", "#008080", "#f032e6", "#9a6324", "#808000", "#e0a800"),
    *("#00a0c0", "#800000"),
)
_COLOR = re.compile("#[0-9a-f]{6}")


def colors_of(names: Sequence[str], own: Mapping[str, str]) -> dict[str, str]:
    """A color for each class. own: those that were chosen"""
    return {name: own.get(name, COLORS[i % len(COLORS)]) for i, name in enumerate(names)}


def checked_colors(colors: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The colors in lower case. Raises Problem 422 for another class, or what is no color."""
    found = {name: color.lower() for name, color in colors.items()}
    for name, color in found.items():
        if name not in names or not _COLOR.fullmatch(color):
            words = f"{name[:80]} has the color {color[:20]}"
            raise Problem(422, words, expected="a class of the data set, and a color as #e6194b")
    return found


def class_changes(
    counts: Sequence[tuple[str, int, int]], names: Sequence[str], renamed: Mapping[str, str]
) -> list[dict[str, Any]]:
    """What a change does to each class: {"name", "after", "number", "n_image", "n_object", "merged"}.

    counts: (class, images, objects) in order; names, renamed: as of `Edits.set_classes`
    after: its name then, "" if it is removed; number: (before, after), from 0; merged: other classes of the same name
    """
    found = []
    after_of = {name: renamed.get(name, name) for name, *_ in counts}
    for number, (name, n_image, n_object) in enumerate(counts):
        after = after_of[name] if after_of[name] in names else ""
        same = [other for other, known in after_of.items() if known == after and other != name and after]
        numbers = (number, list(names).index(after) if after else None)
        row = {"name": name, "after": after, "number": numbers, "n_image": n_image, "n_object": n_object}
        found.append(row | {"merged": same})
    return found
