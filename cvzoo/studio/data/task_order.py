"""A task of a data set, and the order by which the process that does it knows what to read and where to write."""

import dataclasses
import json
import pathlib
from typing import Any

from sqlalchemy import Connection, Engine

from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.clock import Clock
from cvzoo.studio.data.additions import order_of_addition
from cvzoo.studio.data.datasets import Datasets, classes_at
from cvzoo.studio.data.findings import Findings
from cvzoo.studio.data.items import Items
from cvzoo.studio.database.engine import reading
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.place import ASKED, Place

ORDER, ITEMS = "order.json", "items.jsonl"
OF_REVISION = ("check", "version")  # kinds that look at all images of a revision


@dataclasses.dataclass(frozen=True)
class Task:
    """A row of the table.

    kind: "import", "add", "check", "version", "layout", or "propose", which waits for the job that predicts
    subject: the version, or the job; detail: why it failed

    n_try: processes that ended without a result since the last progress; reached: images that were done then
    """

    id: str
    kind: str
    dataset: str
    rev: int
    subject: str
    detail: str
    state: str
    n_try: int
    reached: int


def write_order(engine: Engine, clock: Clock, place: Place, task: Task, folder: pathlib.Path) -> None:
    """Writes the order of a task into its folder, unless it is there, or the data set was deleted. Raises OSError."""
    dataset = Datasets(engine, clock).get(task.dataset)
    if dataset is None or (folder / ORDER).is_file():
        return
    is_addition = task.kind == "add"
    given = read_json_object(folder / ASKED)["source"] if is_addition else dataset.source
    source = {key: value for key, value in given.items() if key != "extra"}
    if "uploads" in source:
        ids = source["uploads"]
        source["uploads"] = [{"path": str(place.upload(each["id"])), "name": each["name"]} for each in ids]
    order: dict[str, Any] = {
        "kind": task.kind,
        "source": source,
        "images": str(place.images),
        "task": dataset.task,
        "hidden": place.secrets,
    }
    place.check(task.dataset).mkdir(mode=0o700, exist_ok=True)
    order["kept"] = str(place.check(task.dataset) / "looks.json")
    order |= {"layout": dataset.layout, "extra": dataset.source.get("extra", {})}
    if task.kind != "import":
        with reading(engine) as connection:
            order["classes"] = classes_at(connection, task.dataset, task.rev)
            if is_addition:
                order |= order_of_addition(connection, task.dataset, folder)
            if task.kind in OF_REVISION:
                findings = Findings(engine, clock)
                order["waived"] = findings.waived(connection, task.dataset)
                order["findings"] = findings.of_import(connection, task.dataset)
                _write_items(engine, connection, task, folder)
    if task.kind == "layout":
        order["asked"] = read_json_object(folder / ASKED)
    if task.kind == "version":
        order["out"] = str(place.version(task.subject))
    with atomic_write(folder / ORDER) as file:
        file.write(json.dumps(order).encode())


def _write_items(engine: Engine, connection: Connection, task: Task, folder: pathlib.Path) -> None:
    with open(folder / ITEMS, "w", encoding="utf-8") as file:
        file.writelines(Items(engine).lines(connection, task.dataset, task.rev))
