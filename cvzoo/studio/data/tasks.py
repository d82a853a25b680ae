"""Work on data sets that processes of their own do: imports, checks and versions.

Each step follows from the task's state and its files alone, so that a server that was killed does the same again.
"""

import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys
import threading
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, update

from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.clock import Clock
from cvzoo.studio.data.datasets import Datasets, classes_at
from cvzoo.studio.data.findings import Findings, replace_findings
from cvzoo.studio.data.items import Items
from cvzoo.studio.data.take_in import take_in_import
from cvzoo.studio.data.versions import finish_version, write_note
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import DATASET, TASK
from cvzoo.studio.ids import new_id
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.run_state import is_locked
from cvzoo.studio.place import Place
from cvzoo.studio.uploads.upload import drop_upload
from cvzoo.studio.worker.supervise import kept_environment

INTERVAL_S = 0.3
_AT_ONCE, _MAX_TRY = 2, 3
_QUIET_MS = 3000  # without an edit, after which a data set is checked again
ORDER, ITEMS, RESULT, PROGRESS, LOCK, ROWS = (
    *("order.json", "items.jsonl", "result.json", "progress.json", "lock", "rows.jsonl"),
)


@dataclasses.dataclass(frozen=True)
class Task:
    """A row of the table. kind: "import", "check" or "version"; subject: the version; detail: why it failed"""

    id: str
    kind: str
    dataset: str
    rev: int
    subject: str
    detail: str
    state: str
    n_try: int


class Tasks:
    """The tasks of a studio. engine, place, clock: of the studio"""

    def __init__(self, engine: Engine, place: Place, clock: Clock):
        self._engine, self._place, self._clock = engine, place, clock
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    @property
    def n_child(self) -> int:
        """The number of processes that this server started and that live."""
        return len(self._children)

    def create(self, kind: str, dataset: str, rev: int = 0, subject: str = "") -> str:
        """The identifier of a new task."""
        task = new_id("tk")
        with writing(self._engine) as connection:
            row = {"id": task, "kind": kind, "dataset": dataset, "rev": rev, "subject": subject, "detail": ""}
            connection.execute(insert(TASK).values(**row, state="queued", n_try=0, created_at=self._clock()))
        return task

    def open(self, dataset: str | None = None) -> list[Task]:
        """Tasks that are not done, the oldest first."""
        query = select(TASK).where(TASK.c.state.in_(("queued", "running"))).order_by(TASK.c.created_at, TASK.c.id)
        if dataset is not None:
            query = query.where(TASK.c.dataset == dataset)
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
        names = [field.name for field in dataclasses.fields(Task)]
        return [Task(**{name: getattr(row, name) for name in names}) for row in rows]

    def progress(self, task: Task) -> dict[str, Any]:
        """{"phase", "done", "total"} of a task."""
        tree = read_json_object(self._place.task(task.id) / PROGRESS)
        return {"phase": str(tree.get("phase") or task.state), "done": tree.get("done"), "total": tree.get("total")}

    def tick(self) -> None:
        """Brings all tasks a step further."""
        with self._lock:
            self._children = {name: each for name, each in self._children.items() if each.poll() is None}
            self._check_edited()
            n_running = 0
            errors: list[Exception] = []
            for task in self.open():
                try:
                    n_running += self._step(task, may_start=n_running < _AT_ONCE)
                except Exception as error:  # the others go ahead
                    errors.append(error)
            if errors:
                raise errors[0]

    def _step(self, task: Task, *, may_start: bool) -> bool:
        """Whether the task has a process after its next step."""
        folder = self._place.task(task.id)
        if (folder / LOCK).exists() and is_locked(folder / LOCK) is True:
            return True
        if (folder / RESULT).is_file():
            self._end(task, folder)
            return False
        if task.id in self._children:
            return True  # it is being born
        if may_start:
            self._start(task, folder)
        return may_start

    def clean(self) -> None:
        """Removes folders of tasks that are done, which a killed server left, and files that were never finished."""
        known = {task.id for task in self.open()}
        for folder in self._place.tasks.iterdir():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)
        if known:  # its process may have outlived the server, and be writing them
            return
        for pattern in (".*.part", "*/.*.part"):  # of copies, and of thumbnails and properties
            for part in self._place.images.glob(pattern):
                part.unlink(missing_ok=True)

    def _check_edited(self) -> None:
        is_behind = (DATASET.c.state == "ready") & (DATASET.c.head_rev > DATASET.c.checked_rev)
        query = select(DATASET).where(is_behind, DATASET.c.changed_at <= self._clock() - _QUIET_MS)
        with reading(self._engine) as connection:
            found = connection.execute(query).all()
        for row in found:
            if not self.open(row.id):
                self.create("check", row.id, row.head_rev)

    def _start(self, task: Task, folder: pathlib.Path) -> None:
        if task.n_try >= _MAX_TRY:
            self._fail(task, "its process ended without a result, three times")
            return
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            self._write_order(task, folder)
        except OSError as error:
            self._fail(task, f"{error.filename or 'a file'}: {error.strerror}")
            return
        with writing(self._engine) as connection:
            values = {"state": "running", "n_try": task.n_try + 1}
            connection.execute(update(TASK).where(TASK.c.id == task.id).values(**values))
        with open(folder / "log.txt", "ab") as log:
            self._children[task.id] = subprocess.Popen(
                [sys.executable, "-m", "cvzoo.studio.worker.data_task", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=kept_environment() | {"OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,
            )

    def _write_order(self, task: Task, folder: pathlib.Path) -> None:
        dataset = Datasets(self._engine, self._clock).get(task.dataset)
        if dataset is None or (folder / ORDER).is_file():
            return
        source = {key: value for key, value in dataset.source.items() if key != "extra"}
        if "uploads" in source:
            ids = source["uploads"]
            source["uploads"] = [{"path": str(self._place.upload(each["id"])), "name": each["name"]} for each in ids]
        order: dict[str, Any] = {
            "kind": task.kind,
            "source": source,
            "images": str(self._place.images),
            "task": dataset.task,
        }
        order |= {"layout": dataset.layout, "extra": dataset.source.get("extra", {})}
        if task.kind != "import":
            with reading(self._engine) as connection:
                order["classes"] = classes_at(connection, task.dataset, task.rev)
                findings = Findings(self._engine, self._clock)
                order["waived"] = findings.waived(connection, task.dataset)
                order["findings"] = findings.of_import(connection, task.dataset)
                self._write_items(connection, task, folder)
        if task.kind == "version":
            order["out"] = str(self._place.version(task.subject))
        with atomic_write(folder / ORDER) as file:
            file.write(json.dumps(order).encode())

    def _write_items(self, connection: Connection, task: Task, folder: pathlib.Path) -> None:
        with open(folder / ITEMS, "w", encoding="utf-8") as file:
            for item in Items(self._engine).rows(connection, task.dataset, task.rev):
                file.write(json.dumps(item.to_json()) + "\n")

    def _end(self, task: Task, folder: pathlib.Path) -> None:
        result = read_json_result(folder / RESULT)
        if "error" in result:
            self._fail(task, str(result["error"]))
            return
        if task.kind == "import":
            take_in_import(self._engine, self._clock, task.dataset, folder / ROWS, result)
        with writing(self._engine) as connection:
            if task.kind != "import":
                self._take_in_findings(connection, task, result)
            if task.kind == "version":
                n = result["n_error"]
                words = f"{n} error{'s are' if n != 1 else ' is'} neither fixed nor waived" if n else ""
                data = result.get("data", "")
                if not n:
                    write_note(connection, self._place, task.subject, data)
                finish_version(connection, task.subject, "failed" if n else "ready", words, data)
            connection.execute(update(TASK).where(TASK.c.id == task.id).values(state="done"))
        shutil.rmtree(folder, ignore_errors=True)
        self._drop_uploads(task)

    def _take_in_findings(self, connection: Connection, task: Task, result: dict[str, Any]) -> None:
        replace_findings(connection, task.dataset, result["findings"], self._clock())
        mine = (DATASET.c.id == task.dataset) & (DATASET.c.checked_rev < task.rev)
        connection.execute(update(DATASET).where(mine).values(checked_rev=task.rev))

    def _fail(self, task: Task, detail: str) -> None:
        if task.kind == "import":
            Datasets(self._engine, self._clock).fail(task.dataset, detail)
        with writing(self._engine) as connection:
            if task.kind == "version":
                finish_version(connection, task.subject, "failed", detail, "")
            values = {"state": "failed", "detail": detail[:2000]}
            connection.execute(update(TASK).where(TASK.c.id == task.id).values(**values))
            if task.kind == "check":  # it would fail again, until the next edit
                mine = DATASET.c.id == task.dataset
                connection.execute(update(DATASET).where(mine).values(checked_rev=task.rev))
        shutil.rmtree(self._place.task(task.id), ignore_errors=True)
        self._drop_uploads(task)

    def _drop_uploads(self, task: Task) -> None:
        """Deletes what was imported, or cannot be."""
        dataset = Datasets(self._engine, self._clock).get(task.dataset) if task.kind == "import" else None
        for each in dataset.source.get("uploads", ()) if dataset is not None else ():
            drop_upload(self._engine, self._place, each["id"])


def read_json_result(path: pathlib.Path) -> dict[str, Any]:
    """The result of a task, of any size; {"error": ...} if it is malformed."""
    try:
        tree = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        return {"error": f"the result cannot be read: {error}"}
    return tree if isinstance(tree, dict) else {"error": "the result is malformed"}
