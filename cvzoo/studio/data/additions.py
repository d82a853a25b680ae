"""Images that are added to a data set: one revision, of which nothing is to be seen before all of it is there.

The rows are written in short transactions as of a revision that no data set has, and then get the newest one together.
"""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.clock import Clock
from cvzoo.studio.data.datasets import classes_at
from cvzoo.studio.data.edit import MAX_CLASSES
from cvzoo.studio.data.facets import count_revision
from cvzoo.studio.data.findings import add_findings
from cvzoo.studio.data.take_in import insert_lines
from cvzoo.studio.database.engine import writing
from cvzoo.studio.database.tables import DATASET, ITEM, ITEM_CLASS, REVISION, TASK, UPLOAD
from cvzoo.studio.place import NAMES
from cvzoo.studio.problems import Problem

_HIDDEN = 2**31 - 1  # the revision in which rows wait


def order_of_addition(connection: Connection, dataset: str, folder: pathlib.Path) -> dict[str, Any]:
    """{"first": the number of the first image}; FOLDER/names.json has the names that are taken.

    Those of deleted images are taken, too, as a revert brings them back.
    """
    mine = (ITEM.c.dataset == dataset) & (ITEM.c.first_rev != _HIDDEN)
    last = connection.execute(select(func.max(ITEM.c.ordinal)).where(mine)).scalar()
    names = list(connection.scalars(select(ITEM.c.name).distinct().where(mine)))
    with atomic_write(folder / NAMES) as file:
        file.write(json.dumps(names).encode())
    return {"first": 0 if last is None else last + 1}


def take_in_addition(
    engine: Engine,
    clock: Clock,
    task: str,
    dataset: str,
    rows: pathlib.Path,
    findings: pathlib.Path,
    result: Mapping[str, Any],
    asked: Mapping[str, Any],
) -> None:
    """Makes the rows a revision, and ends the task with it; a server that is killed before does it again.

    rows, findings: files of lines, as of `item_line` and `add_findings`; result: of `add_data`
    asked: "source", "words" of it, and "user"
    Raises Problem 409 if the data set would have too many classes.
    """
    drop_hidden(engine, dataset)
    insert_lines(engine, dataset, rows, _HIDDEN, until=_HIDDEN)
    now = clock()
    with writing(engine) as connection:
        row = connection.execute(select(DATASET).where(DATASET.c.id == dataset)).one()
        rev, known = row.head_rev + 1, classes_at(connection, dataset, row.head_rev)
        new = [name for name in result["classes"] if name not in known]
        if len(known) + len(new) > MAX_CLASSES:
            raise Problem(409, f"the data set would have {len(known) + len(new)} classes", expected=f"{MAX_CLASSES}")
        for table in (ITEM, ITEM_CLASS):
            hidden = (table.c.dataset == dataset) & (table.c.first_rev == _HIDDEN)
            connection.execute(update(table).where(hidden).values(first_rev=rev, last_rev=None))
        count_revision(connection, dataset, rev)
        add_findings(connection, dataset, findings, now)
        words = asked["words"] + (f"; new classes: {', '.join(new)}" if new else "")
        revision = {"dataset": dataset, "rev": rev, "kind": "add", "message": words[:400], "n_changed": result["n"]}
        names = json.dumps([*known, *new]) if new else ""
        connection.execute(insert(REVISION).values(**revision, classes=names, at=now, user=asked.get("user")))
        source = json.dumps(_with_categories(json.loads(row.source), result["extra"], new))
        values = {"head_rev": rev, "changed_at": now, "source": source}
        connection.execute(update(DATASET).where(DATASET.c.id == dataset).values(**values))
        connection.execute(update(TASK).where(TASK.c.id == task).values(state="done"))
        connection.execute(delete(UPLOAD).where(UPLOAD.c.id.in_(uploads_of(asked))))


def uploads_of(asked: Mapping[str, Any]) -> list[str]:
    """The identifiers of the uploads that are added."""
    return [each["id"] for each in asked.get("source", {}).get("uploads", ())]


def drop_hidden(engine: Engine, dataset: str) -> None:
    """Removes the rows of an addition that was refused, or whose server was killed."""
    with writing(engine) as connection:
        for table in (ITEM, ITEM_CLASS):
            hidden = (table.c.dataset == dataset) & (table.c.first_rev == _HIDDEN)
            connection.execute(delete(table).where(hidden))


def _with_categories(source: dict[str, Any], extra: Mapping[str, Any], new: Sequence[str]) -> dict[str, Any]:
    """What the data set was imported from, with what the layout says of the new classes."""
    more = [each for each in extra["categories"] if isinstance(each, dict) and each.get("name") in new]
    if not more:
        return source
    known = source.get("extra", {})
    return source | {"extra": {**known, "categories": [*known.get("categories", ()), *more]}}
