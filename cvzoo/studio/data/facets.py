"""How many images and objects each split, class, tag ... of the newest revision has, kept as the images change.

Counting 100,000 images anew takes most of a second, and pages show the numbers after each edit.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, delete, insert, literal, select
from sqlalchemy.dialects.sqlite import insert as insert_or_update
from sqlalchemy.sql import func

from cvzoo.studio.data.items import Item
from cvzoo.studio.data.where import FacetKind
from cvzoo.studio.database.tables import FACET, ITEM, ITEM_CLASS

# of each kind but tags, which are lists: its table, its column, and the number of objects
COLUMNS = (
    ("split", ITEM, ITEM.c.split, ITEM.c.n_object),
    ("stage", ITEM, ITEM.c.stage, ITEM.c.n_object),
    ("user", ITEM, ITEM.c.assignee, ITEM.c.n_object),
    ("class", ITEM_CLASS, ITEM_CLASS.c.name, ITEM_CLASS.c.n),
)


def change_facets(
    connection: Connection, dataset: str, before: Iterable[Item | None], after: Iterable[Item | None]
) -> None:
    """Changes the numbers by images that are not in the newest revision any more, and those that are instead."""
    images: Counter[tuple[FacetKind, str]] = Counter()
    objects: Counter[tuple[FacetKind, str]] = Counter()
    for sign, items in ((-1, before), (1, after)):
        for item in items:
            if item is None:
                continue
            images["split", item.split] += sign
            objects["split", item.split] += sign * len(item.labels)
            keys: list[tuple[FacetKind, str]] = [("stage", item.stage), ("user", item.assignee)]
            for tag in item.tags:
                keys.append(("tag", tag))
            for key in keys:
                images[key] += sign
                objects[key] += sign * len(item.labels)
            for name, n in Counter(each["class"] for each in item.labels).items():
                images["class", name] += sign
                objects["class", name] += sign * n
    rows = [
        {"dataset": dataset, "kind": key[0], "name": key[1], "n_image": images[key], "n_object": objects[key]}
        for key in sorted(images)
        if images[key] or objects[key]
    ]
    _add(connection, rows)


def count_revision(connection: Connection, dataset: str, rev: int) -> None:
    """Adds the images that are valid from a revision on, which have no tags yet."""
    rows = []
    for kind, table, name, n in COLUMNS:
        mine = (table.c.dataset == dataset) & (table.c.first_rev == rev)
        for row in connection.execute(select(name, func.count(), func.sum(n)).where(mine).group_by(name)):
            rows.append({"dataset": dataset, "kind": kind, "name": row[0], "n_image": row[1], "n_object": row[2]})
    _add(connection, rows)


def recount_facets(connection: Connection, dataset: str) -> None:
    """Counts all images of an import anew, which have no tags yet."""
    connection.execute(delete(FACET).where(FACET.c.dataset == dataset))
    names = ["dataset", "kind", "name", "n_image", "n_object"]
    for kind, table, name, n in COLUMNS:
        mine = (table.c.dataset == dataset) & table.c.last_rev.is_(None)
        counted = select(literal(dataset), literal(kind), name, func.count(), func.sum(n)).where(mine).group_by(name)
        connection.execute(insert(FACET).from_select(names, counted))


def _add(connection: Connection, rows: list[dict[str, Any]]) -> None:
    if rows:
        query = insert_or_update(FACET)
        sums = {name: FACET.c[name] + query.excluded[name] for name in ("n_image", "n_object")}
        connection.execute(query.on_conflict_do_update(index_elements=["dataset", "kind", "name"], set_=sums), rows)
