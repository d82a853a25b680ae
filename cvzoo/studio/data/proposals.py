"""From what a job predicted on images of a data set to the proposals for them."""

import math
import pathlib
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from cvzoo.studio.data.datasets import classes_at
from cvzoo.studio.data.items import COLUMNS, Item, item_of, valid_at
from cvzoo.studio.data.labels import new_object_id
from cvzoo.studio.data.objects import MAX_OBJECTS, checked_objects
from cvzoo.studio.data.suggestions import Suggestion, add_suggestions
from cvzoo.studio.database.tables import DATASET, ITEM
from cvzoo.studio.jobs.rows import Row
from cvzoo.studio.jobs.run_record import number
from cvzoo.studio.jobs.spec import ProposeSpec
from cvzoo.studio.jobs.to_predict import predicted_rows
from cvzoo.studio.problems import Problem

_SIDES = ("y_min", "x_min", "y_max", "x_max")


def take_in_proposals(
    connection: Connection, dataset: str, job: str, spec: ProposeSpec, folder: pathlib.Path, now: int
) -> int:
    """Adds what the job has predicted to the proposals of the data set; returns for how many images.

    What the job wrote is not trusted: objects that no image may have, or of classes that the data set does not have,
    are left out.
    """
    head = connection.execute(select(DATASET.c.head_rev).where(DATASET.c.id == dataset)).scalar_one()
    classes = set(classes_at(connection, dataset, head))
    rows = predicted_rows(folder)
    found = []
    for row in connection.execute(select(*COLUMNS).where(valid_at(dataset, head)).order_by(ITEM.c.ordinal)):
        if row.ordinal in rows:
            item = item_of(row)
            objects = proposed(rows[item.ordinal], item, classes, spec)
            if objects:
                score = max(each["extra"]["score"] for each in objects)
                found.append(Suggestion(item.ordinal, job, spec.source, objects, score, "open", None, now))
    add_suggestions(connection, dataset, found)
    return len(found)


def proposed(row: Row, item: Item, classes: set[str], spec: ProposeSpec) -> list[dict[str, Any]]:
    """The objects that a line of results proposes for an image, the highest score first."""
    trees = row.get("objects" if spec.task == "boxes" else "classes")
    found = []
    for tree in trees if isinstance(trees, list) else ():
        score = number(tree.get("score")) if isinstance(tree, dict) else None
        name = None if score is None else str(tree["label"] if tree.get("name") is None else tree["name"])
        if score is not None and spec.score <= score <= 1 and name in classes:
            each: dict[str, Any] = {"id": new_object_id(), "class": name}
            each["extra"] = {"score": round(score, 4), "source": spec.source}
            shape = {} if spec.task == "classes" else _shape(tree, item)
            if shape is not None and _is_possible([each | shape], classes, spec.task, item):
                found.append(each | shape)
    found.sort(key=lambda each: -each["extra"]["score"])
    found = found[: 1 if spec.task == "classes" else MAX_OBJECTS]
    if spec.task == "classes" and found and [each["class"] for each in item.labels] == [found[0]["class"]]:
        return []  # it has this class
    return found


def _shape(tree: Mapping[str, Any], item: Item) -> dict[str, Any] | None:
    """The box inside of the image, with a mask if there is one; None without an area."""
    sides = [number(tree.get(side)) for side in _SIDES]
    if not all(side is not None and math.isfinite(side) for side in sides):
        return None
    y_min, x_min, y_max, x_max = (
        round(min(max(side or 0.0, 0.0), float(end)), 2)
        for side, end in zip(sides, (item.height, item.width) * 2, strict=True)
    )
    if y_min >= y_max or x_min >= x_max:
        return None
    shape: dict[str, Any] = {"box": [y_min, x_min, y_max, x_max]}
    return shape | ({"rle": tree["mask"]} if isinstance(tree.get("mask"), dict) else {})


def _is_possible(objects: list[dict[str, Any]], classes: set[str], task: str, item: Item) -> bool:
    try:
        checked_objects(objects, classes, task, (item.height, item.width))
    except Problem:
        return False
    return True
