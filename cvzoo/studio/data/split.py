"""Splits a data set: seeded, and stratified by class."""

import dataclasses
from collections import Counter
from collections.abc import Mapping

from sqlalchemy import Engine

from cvzoo.studio.data.datasets import Dataset
from cvzoo.studio.data.edit import Edits
from cvzoo.studio.data.items import Item, Items
from cvzoo.studio.database.engine import reading
from cvzoo.studio.jobs.answer_of import answer_of
from cvzoo.studio.problems import Problem

_TIMEOUT_S = 300


@dataclasses.dataclass(frozen=True)
class Split:
    """What a split does. parts: split -> ordinals; counts: split -> class -> number of objects"""

    parts: dict[str, list[int]]
    counts: dict[str, dict[str, int]]


def planned_split(
    engine: Engine, dataset: Dataset, classes: list[str], percent: Mapping[str, int], seed: int, *, keep: bool
) -> Split:
    """The split of the newest revision; nothing is changed.

    percent: of "train", "val" and "test", 100 in total; keep: images that have a split keep it
    Raises Problem 422 for percentages that make none, or with too few images.
    """
    wanted = {name: value for name, value in percent.items() if value}
    if sum(wanted.values()) != 100 or min(wanted.values()) < 0 or not {"train", "val"} <= set(wanted):
        raise Problem(422, "the percentages make no split", expected="train and val, 100 in total", got=str(percent))
    with reading(engine) as connection:
        items = list(Items(engine).rows(connection, dataset.id, dataset.head_rev))
    parts: dict[str, list[int]] = {name: [] for name in wanted}
    dealt = [item for item in items if item.height and not (keep and item.split)]
    if len(dealt) < len(wanted):
        raise Problem(422, f"there are {len(dealt)} images to split", expected=f"at least {len(wanted)}")
    numbers = _ask([_counts(item, classes) for item in dealt], [value / 100 for value in wanted.values()], seed)
    names = list(wanted)
    for item, number in zip(dealt, numbers):
        parts[names[number]].append(item.ordinal)
    for item in items if keep else ():
        if item.split:
            parts.setdefault(item.split, []).append(item.ordinal)
    part_of = {ordinal: name for name, ordinals in parts.items() for ordinal in ordinals}
    counts: dict[str, Counter[str]] = {name: Counter() for name in parts}
    for item in items:
        if item.ordinal in part_of:
            counts[part_of[item.ordinal]].update(each["class"] for each in item.labels)
    return Split(parts, {name: dict(found) for name, found in counts.items()})


def apply_split(edits: Edits, dataset: Dataset, split: Split, message: str, user: str) -> int:
    """The revision in which the images are split so."""
    part_of = {ordinal: name for name, ordinals in split.parts.items() for ordinal in ordinals}

    def moved(item: Item) -> Item:
        return dataclasses.replace(item, split=part_of[item.ordinal])

    rev, _ = edits.change_images(dataset.id, list(part_of), moved, "split", message, user)
    return rev


def _counts(item: Item, classes: list[str]) -> list[int]:
    found = Counter(each["class"] for each in item.labels if not each.get("extra", {}).get("iscrowd"))
    return [found[name] for name in classes]


def _ask(counts: list[list[int]], fractions: list[float], seed: int) -> list[int]:
    numbers: list[int] = answer_of(
        ["cvzoo.studio.worker.split"],
        failed="the data set could not be split",
        timeout=_TIMEOUT_S,
        question={"counts": counts, "fractions": fractions, "seed": seed},
    )
    return numbers
