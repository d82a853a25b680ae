"""Takes the results of tasks into the database: rows first, which are invisible until their revision is the newest."""

import itertools
import json
import pathlib
from typing import Any

from sqlalchemy import Connection, Engine, delete, insert, update

from cvzoo.studio.clock import Clock
from cvzoo.studio.data.edit import insert_items
from cvzoo.studio.data.facets import recount_facets
from cvzoo.studio.data.findings import take_in_findings
from cvzoo.studio.data.items import Item
from cvzoo.studio.database.engine import writing
from cvzoo.studio.database.tables import DATASET, ITEM, ITEM_CLASS, REVISION
from cvzoo.studio.jobs.json_file import load_json

_AT_ONCE = 500


def take_in_import(
    engine: Engine, clock: Clock, dataset: str, rows: pathlib.Path, findings: pathlib.Path, result: dict[str, Any]
) -> None:
    """Makes the rows of an import revision 1. A server that is killed meanwhile does all of it again.

    rows, findings: files of lines, as of `item_line` and `take_in_findings`
    """
    with writing(engine) as connection:
        for table in (ITEM, ITEM_CLASS, REVISION):
            connection.execute(delete(table).where(table.c.dataset == dataset))
    insert_lines(engine, dataset, rows, 1)
    now = clock()
    take_in_findings(engine, dataset, findings, now)
    with writing(engine) as connection:
        row = {"dataset": dataset, "rev": 1, "kind": "import", "message": "", "n_changed": result["n"], "at": now}
        connection.execute(insert(REVISION).values(**row, classes=json.dumps(result["classes"])))
        recount_facets(connection, dataset)
        _finish(connection, dataset, result, now)


def _finish(connection: Connection, dataset: str, result: dict[str, Any], now: int) -> None:
    query = DATASET.c.id == dataset
    source = json.loads(connection.execute(DATASET.select().where(query)).one().source)
    values = {"task": result["task"], "layout": result["layout"], "state": "ready", "head_rev": 1, "checked_rev": 1}
    more = {"source": json.dumps(source | {"extra": result["extra"]}), "changed_at": now, "detail": ""}
    connection.execute(update(DATASET).where(query).values(**values, **more))


def insert_lines(engine: Engine, dataset: str, rows: pathlib.Path, rev: int, until: int | None = None) -> None:
    """Images that are valid from this revision on, in short transactions. rows: a file of lines, as of `item_line`

    until: before which revision, None for now
    """
    with open(rows, encoding="utf-8") as lines:
        while part := [_item(load_json(line), rev, until) for line in itertools.islice(lines, _AT_ONCE)]:
            with writing(engine) as connection:
                insert_items(connection, dataset, rev, part, until=until)


def _item(row: dict[str, Any], rev: int, until: int | None) -> Item:
    return Item(**row, first_rev=rev, last_rev=until, n_object=len(row["labels"]))
