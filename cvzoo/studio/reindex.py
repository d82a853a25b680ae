"""Finds again what the database has lost: jobs by their folders, data sets by their newest versions, the audit."""

import dataclasses
import json
import time
from typing import Any

from sqlalchemy import Engine, insert, select

from cvzoo.studio.access.audit import deleted_datasets, restore_audit
from cvzoo.studio.clock import Clock
from cvzoo.studio.data.datasets import Dataset, Datasets
from cvzoo.studio.data.tasks import INTERVAL_S, Tasks
from cvzoo.studio.data.versions import Versions
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.migrate import ready_database
from cvzoo.studio.database.tables import DATASET, TASK, VERSION
from cvzoo.studio.ids import is_id, new_id
from cvzoo.studio.jobs.job import Jobs
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.place import Place


@dataclasses.dataclass(frozen=True)
class Found:
    """What was added to the database. n_job: jobs; datasets: names of data sets; failed: (name, why) of others

    n_audit: entries of the audit
    """

    n_job: int
    datasets: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    n_audit: int


def reindex(place: Place, clock: Clock) -> Found:
    """Adds what the folder has and the database lacks; rows that are there stay. No server may be running.

    A data set has the images and annotations of its newest version, as its first revision: edits since, earlier
    revisions and waived findings are lost. Data sets that were deleted stay deleted.
    Raises FileFormatError if the database is damaged, or was made by a newer version of cvzoo.
    """
    place.make()
    engine = ready_database(place)
    try:
        tasks, datasets = Tasks(engine, place, clock), Datasets(engine, clock)
        n_audit = restore_audit(engine)  # which says what was deleted
        n_job = Jobs(engine, place, clock).reindex()
        with reading(engine) as connection:
            known = set(connection.scalars(select(DATASET.c.id)))
            known |= deleted_datasets(connection)
            names = set(connection.scalars(select(DATASET.c.name)))
        newest: dict[str, dict[str, Any]] = {}
        for note in _notes(place):
            if note["dataset"] not in known:
                newest[note["dataset"]] = note
        for dataset, note in newest.items():
            name, now = _free(note["dataset_name"], names), clock()
            source = {"spec": f"{note['kind']}:{place.version(note['version'])}", "version": note["version"]}
            row = {"id": dataset, "name": name, "task": "", "layout": "", "state": "importing", "detail": ""}
            more = {"source": json.dumps(source), "head_rev": 0, "checked_rev": 0, "changed_at": now, "created_at": now}
            task = {"id": new_id("tk"), "kind": "import", "dataset": dataset, "rev": 0, "subject": "", "detail": ""}
            with writing(engine) as connection:
                connection.execute(insert(DATASET).values(**row, **more))
                connection.execute(insert(TASK).values(**task, state="queued", n_try=0, created_at=now))
        while any(task.kind != "propose" for task in tasks.open()):
            tasks.tick()
            time.sleep(INTERVAL_S)
        notes = {note["version"]: note for note in _notes(place)}
        for each in datasets.all():
            version = str(each.source.get("version") or "")
            if each.state == "ready" and version in notes:
                _add_version(engine, clock, each, notes[version])
        mine = [each for each in datasets.all() if each.id in newest]
    finally:
        engine.dispose()
    done = tuple(each.name for each in mine if each.state == "ready")
    failed = tuple((each.name, each.detail) for each in mine if each.state != "ready")
    return Found(n_job, done, failed, n_audit)


def _notes(place: Place) -> list[dict[str, Any]]:
    """What is known of the versions whose folders are there, the oldest first."""
    found = []
    for path in place.versions.glob("ve_*.json"):
        tree = read_json_object(path)
        texts = all(isinstance(tree.get(key), str) for key in ("dataset", "dataset_name", "name", "kind"))
        is_whole = texts and isinstance(tree.get("created_at"), int) and is_id(tree["dataset"], "ds")
        if is_whole and is_id(path.stem, "ve") and place.version(path.stem).is_dir():
            found.append(tree | {"version": path.stem})
    return sorted(found, key=lambda tree: (tree["created_at"], tree["version"]))


def _add_version(engine: Engine, clock: Clock, dataset: Dataset, note: dict[str, Any]) -> None:
    """The version that the data set was found by is one of it again."""
    versions = Versions(engine, clock)
    if versions.get(note["version"]) is not None:
        return
    row = {"id": note["version"], "dataset": dataset.id, "rev": 1, "name": note["name"], "state": "ready", "detail": ""}
    content, counts = versions.content(dataset.id, 1, dataset.task), Datasets(engine, clock).counts(dataset.id)
    more = {"content": content, "data": dataset.source["spec"], "counts": json.dumps(counts)}
    with writing(engine) as connection:
        connection.execute(insert(VERSION).values(**row, **more, created_at=note["created_at"]))


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name[:100]} {number}"
    taken.add(free)
    return free
