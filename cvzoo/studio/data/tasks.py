"""Work on data sets that processes of their own do: imports, additions, checks, versions and archives of them.

Each step follows from the task's state and its files alone, so that a server that was killed does the same again.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, func, insert, literal_column, select, update

from cvzoo.files.atomic_write import atomic_write, remove_path
from cvzoo.studio.clock import Clock
from cvzoo.studio.data.additions import drop_hidden, take_in_addition, uploads_of
from cvzoo.studio.data.datasets import Dataset, Datasets
from cvzoo.studio.data.findings import take_in_findings
from cvzoo.studio.data.proposals import take_in_proposals
from cvzoo.studio.data.take_in import take_in_import
from cvzoo.studio.data.task_order import OF_REVISION, Task, write_order
from cvzoo.studio.data.versions import finish_version, write_note
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import DATASET, JOB, TASK, UPLOAD
from cvzoo.studio.ids import new_id
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.orphans import kill_orphans
from cvzoo.studio.jobs.run_state import is_locked
from cvzoo.studio.jobs.spec import ProposeSpec, spec_from_json
from cvzoo.studio.jobs.states import ENDED
from cvzoo.studio.place import ASKED, Place
from cvzoo.studio.problems import Problem
from cvzoo.studio.uploads.upload import drop_upload
from cvzoo.studio.worker.attempt import kept_environment

INTERVAL_S = 0.3
_AT_ONCE, _MAX_TRY = 2, 3  # attempts without progress
_MAX_START = 5  # of processes that end before their first step
_QUIET_MS = 3000  # without an edit, after which a data set is checked again
RESULT, PROGRESS, LOCK, ROWS, STARTED, FINDINGS = (
    *("result.json", "progress.json", "lock", "rows.jsonl", "started", "findings.jsonl"),
)
_OPEN = ("queued", "running")
_DELETED = "the data set was deleted"
_BUSY = {
    "add": "other images are being added to the data set",
    "layout": "an archive of the version is being made",
}


@dataclasses.dataclass(frozen=True)
class _Start:
    """A process of a task. at: seconds, when it was started; n: how many were, with this one, before a first step"""

    process: subprocess.Popen[bytes]
    at: float
    n: int


class Tasks:
    """The tasks of a studio. engine, place, clock: of the studio; seconds: do not jump when the time is set"""

    def __init__(self, engine: Engine, place: Place, clock: Clock, seconds: Callable[[], float] = time.monotonic):
        self._engine, self._place, self._clock, self._seconds = engine, place, clock, seconds
        self._starts: dict[str, _Start] = {}
        self._lock = threading.Lock()

    @property
    def n_child(self) -> int:
        """The number of processes that this server started and that live."""
        return sum(each.process.poll() is None for each in self._starts.values())

    def create(self, kind: str, dataset: str, rev: int = 0, subject: str = "") -> str:
        """The identifier of a new task."""
        row = self._row(kind, dataset, rev, subject)
        with writing(self._engine) as connection:
            connection.execute(insert(TASK).values(**row))
        return str(row["id"])

    def ask(self, kind: str, dataset: str, rev: int, asked: dict[str, Any], subject: str = "") -> str:
        """The identifier of a new task, of which a file says more than its row. asked: JSON

        Raises Problem 404 if the data set was deleted, 409 while there is one of this kind for the same subject.
        """
        row = self._row(kind, dataset, rev, subject)
        folder = self._place.task(row["id"])
        folder.mkdir(mode=0o700)
        with atomic_write(folder / ASKED) as file:  # before the row: without it, the folder is removed
            file.write(json.dumps(asked).encode())
        try:
            with writing(self._engine) as connection:
                there = (DATASET.c.id == dataset) & DATASET.c.trashed_at.is_(None)
                if connection.execute(select(DATASET.c.id).where(there)).first() is None:
                    raise Problem(404, "there is no such data set")
                same = (TASK.c.dataset == dataset) & (TASK.c.kind == kind) & (TASK.c.subject == subject)
                if connection.execute(select(TASK.c.id).where(same, TASK.c.state.in_(_OPEN))).first() is not None:
                    raise Problem(409, _BUSY[kind], hint="again when that has ended")
                connection.execute(insert(TASK).values(**row))
        except Problem:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return str(row["id"])

    def failure(self, kind: str, dataset: str, subject: str = "") -> str:
        """Why the last task of this kind and subject failed; "" if it did not, or ended as the data set was deleted, or
        was an addition to an older revision.
        """
        same = (TASK.c.dataset == dataset) & (TASK.c.kind == kind) & (TASK.c.subject == subject)
        query = select(TASK.c.state, TASK.c.detail, TASK.c.rev, DATASET.c.head_rev).join(DATASET).where(same)
        with reading(self._engine) as connection:
            row = connection.execute(query.order_by(literal_column("task.rowid").desc()).limit(1)).first()
        if row is None or row.state != "failed" or row.detail == _DELETED:
            return ""
        return "" if kind == "add" and row.rev < row.head_rev else str(row.detail)

    def _row(self, kind: str, dataset: str, rev: int = 0, subject: str = "") -> dict[str, Any]:
        row = {"id": new_id("tk"), "kind": kind, "dataset": dataset, "rev": rev, "subject": subject, "detail": ""}
        return row | {"state": "queued", "n_try": 0, "reached": 0, "created_at": self._clock()}

    def open(self, dataset: str | None = None) -> list[Task]:
        """Tasks that are not done, the oldest first."""
        query = select(TASK).where(TASK.c.state.in_(_OPEN)).order_by(TASK.c.created_at, TASK.c.id)
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
            self._check_edited()
            n_running = 0
            errors: list[Exception] = []
            self._reopen_proposals()
            tasks = self.open()
            known = {task.id for task in tasks}
            # an ended one is no zombie then
            self._starts = {k: each for k, each in self._starts.items() if each.process.poll() is None or k in known}
            for task in tasks:
                try:
                    n_running += self._step(task, may_start=n_running < _AT_ONCE)
                except Exception as error:  # the others go ahead
                    errors.append(error)
            if errors:
                raise errors[0]

    def _step(self, task: Task, *, may_start: bool) -> bool:
        """Whether the task has a process after its next step."""
        if task.kind == "propose":
            self._follow_proposals(task)
            return False
        folder = self._place.task(task.id)
        if (folder / LOCK).exists() and is_locked(folder / LOCK) is True:
            return True
        if (folder / RESULT).is_file():
            self._end(task, folder)
            return False
        known = self._starts.get(task.id)
        if known is not None and known.process.poll() is None:
            return True  # it is being born
        return may_start and self._start(task, folder)

    def _follow_proposals(self, task: Task) -> None:
        """Takes in what the job has predicted, when it has ended, be it that it failed or was stopped."""
        with reading(self._engine) as connection:
            row = connection.execute(select(JOB).where(JOB.c.id == task.subject)).first()
        spec = None if row is None else spec_from_json(json.loads(row.spec))
        if row is None or not isinstance(spec, ProposeSpec):
            self._fail(task, "its job was deleted", may_pass=True)
        elif row.state in ENDED:
            with writing(self._engine) as connection:
                folder = self._place.run(task.subject)
                take_in_proposals(connection, task.dataset, task.subject, spec, folder, self._clock())
                state = "done" if row.state == "succeeded" else "failed"
                values = {"state": state, "detail": "" if state == "done" else f"its job has {row.state}"}
                connection.execute(update(TASK).where(TASK.c.id == task.id).values(**values))

    def _reopen_proposals(self) -> None:
        """Waits again for jobs that failed or were stopped, and were started again."""
        going = select(JOB.c.id).where(JOB.c.state.not_in(ENDED))
        mine = (TASK.c.kind == "propose") & (TASK.c.state == "failed") & TASK.c.subject.in_(going)
        with reading(self._engine) as connection:
            found = list(connection.scalars(select(TASK.c.id).where(mine)))
        if found:
            with writing(self._engine) as connection:
                connection.execute(update(TASK).where(TASK.c.id.in_(found)).values(state="queued"))

    def clean(self) -> None:
        """Removes folders of tasks that are done, which a killed server left, and files that were never finished."""
        with reading(self._engine) as connection:
            kept = set(connection.scalars(select(UPLOAD.c.id)))
        for dataset in Datasets(self._engine, self._clock).all() if kept else ():
            if dataset.state == "ready" and any(each["id"] in kept for each in dataset.source.get("uploads", ())):
                self.drop_uploads(dataset)  # a server that was killed did not come to it
        known = {task.id for task in self.open()}
        for folder in self._place.tasks.iterdir():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)
        self._clean_parts()

    def _clean_parts(self) -> None:
        """Removes files that killed processes did not finish; none while a process may be writing them."""
        if self.open():
            return
        images, versions = self._place.images, self._place.versions
        # copies, thumbnails and properties, versions and their lists of files, archives of versions
        for folder, pattern in ((images, ".*"), (images, "*/.*"), (versions, ".*"), (self._place.archives, ".*")):
            for part in folder.glob(f"{pattern}.part"):
                remove_path(part)

    def _check_edited(self) -> None:
        is_behind = (
            (DATASET.c.state == "ready") & DATASET.c.trashed_at.is_(None) & (DATASET.c.head_rev > DATASET.c.checked_rev)
        )
        query = select(DATASET).where(is_behind, DATASET.c.changed_at <= self._clock() - _QUIET_MS)
        with reading(self._engine) as connection:
            found = connection.execute(query).all()
        for row in found:
            if not any(task.kind in OF_REVISION for task in self.open(row.id)):
                self.create("check", row.id, row.head_rev)

    def _start(self, task: Task, folder: pathlib.Path) -> bool:
        """Whether a process was started. One that ended without a result is counted before."""
        if (folder / STARTED).exists():
            task = self._counted(task, folder)
        if task.n_try >= _MAX_TRY:
            self._fail(task, f"its process ended without a result, {_MAX_TRY} times without progress", may_pass=True)
            return False
        known, now = self._starts.get(task.id), self._seconds()
        if known is not None and known.n >= _MAX_START:
            code = known.process.poll()
            self._fail(task, f"its process could not be started: exit status {code}", may_pass=True)
            return False
        # each next one later: what keeps it from starting, such as a full disk, lasts
        if known is not None and now - known.at < INTERVAL_S * 2**known.n:
            return False
        folder.mkdir(mode=0o700, exist_ok=True)
        if task.kind in _BUSY and not (folder / ASKED).is_file():  # as after a database was restored
            self._fail(task, "what was asked for is not known any more", may_pass=True)
            return False
        try:
            write_order(self._engine, self._clock, self._place, task, folder)
        except OSError as error:
            self._fail(task, f"{os.path.basename(error.filename or 'a file')}: {error.strerror}", may_pass=True)
            return False
        with writing(self._engine) as connection:
            connection.execute(update(TASK).where(TASK.c.id == task.id).values(state="running"))
        with open(folder / "log.txt", "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "cvzoo.studio.worker.data_task", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=kept_environment() | {"OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(folder)},
                start_new_session=True,
            )
        self._starts[task.id] = _Start(process, now, 1 if known is None else known.n + 1)
        return True

    def _counted(self, task: Task, folder: pathlib.Path) -> Task:
        """The task after an attempt that ended without a result."""
        said = read_json_object(folder / PROGRESS).get("reached")
        reached = max(said, task.reached) if isinstance(said, int) else task.reached
        after = dataclasses.replace(task, n_try=1 if reached > task.reached else task.n_try + 1, reached=reached)
        with writing(self._engine) as connection:
            values = {"n_try": after.n_try, "reached": after.reached}
            connection.execute(update(TASK).where(TASK.c.id == task.id).values(**values))
        (folder / STARTED).unlink()
        self._starts.pop(task.id, None)
        return after

    def _end(self, task: Task, folder: pathlib.Path) -> None:
        result = read_json_result(folder / RESULT)
        if "error" in result:
            self._fail(task, str(result["error"]), may_pass=result.get("may_pass") is True)
            return
        if task.kind == "add":
            self._end_addition(task, folder, result)
            return
        if task.kind == "import":
            take_in_import(self._engine, self._clock, task.dataset, folder / ROWS, folder / FINDINGS, result)
        # an older check, which ended later than a newer one, tells nothing
        is_newest = task.kind in OF_REVISION and task.rev >= self._checked_rev(task.dataset)
        if is_newest:
            take_in_findings(self._engine, task.dataset, folder / FINDINGS, self._clock())
        with writing(self._engine) as connection:
            if is_newest:
                mine = (DATASET.c.id == task.dataset) & (DATASET.c.checked_rev < task.rev)
                connection.execute(update(DATASET).where(mine).values(checked_rev=task.rev))
            if task.kind == "version":
                n = result["n_error"]
                words = f"{n} error{'s are' if n != 1 else ' is'} neither fixed nor waived" if n else ""
                data = result.get("data", "")
                if not n:
                    write_note(connection, self._place, task.subject, data)
                finish_version(
                    connection, task.subject, "failed" if n else "ready", words, data, result.get("content", "")
                )
            connection.execute(update(TASK).where(TASK.c.id == task.id).values(state="done"))
        shutil.rmtree(folder, ignore_errors=True)
        self._drop_uploads(task)
        if task.n_try:  # processes of it were killed
            self._clean_parts()

    def _end_addition(self, task: Task, folder: pathlib.Path, result: dict[str, Any]) -> None:
        asked, files = read_json_object(folder / ASKED), (folder / ROWS, folder / FINDINGS)
        try:
            take_in_addition(self._engine, self._clock, task.id, task.dataset, *files, result, asked)
        except Problem as problem:
            self._fail(task, str(problem.detail), may_pass=False)
            return
        for each in uploads_of(asked):
            drop_upload(self._engine, self._place, each)
        shutil.rmtree(folder, ignore_errors=True)
        if task.n_try:
            self._clean_parts()

    def _checked_rev(self, dataset: str) -> int:
        with reading(self._engine) as connection:
            return int(connection.execute(select(DATASET.c.checked_rev).where(DATASET.c.id == dataset)).scalar_one())

    def _fail(self, task: Task, detail: str, *, may_pass: bool) -> None:
        """may_pass: the data are not why, so that uploads are kept, from which the import may be repeated"""
        if task.kind == "import":
            Datasets(self._engine, self._clock).fail(task.dataset, detail)
        if task.kind == "add":
            drop_hidden(self._engine, task.dataset)
        with writing(self._engine) as connection:
            if task.kind == "version":
                finish_version(connection, task.subject, "failed", detail, "")
            values: dict[str, Any] = {"state": "failed", "detail": detail[:2000]}
            if task.kind == "add":  # the revision to which nothing was added
                values["rev"] = select(DATASET.c.head_rev).where(DATASET.c.id == task.dataset).scalar_subquery()
            connection.execute(update(TASK).where(TASK.c.id == task.id).values(**values))
            if task.kind == "check":  # it would fail again, until the next edit
                mine = DATASET.c.id == task.dataset
                connection.execute(update(DATASET).where(mine).values(checked_rev=task.rev))
        added = uploads_of(read_json_object(self._place.task(task.id) / ASKED)) if not may_pass else []
        shutil.rmtree(self._place.task(task.id), ignore_errors=True)
        if not may_pass:
            self._drop_uploads(task)
        for each in added:
            drop_upload(self._engine, self._place, each)
        self._clean_parts()

    def _drop_uploads(self, task: Task) -> None:
        """Deletes what was imported, or cannot be."""
        dataset = Datasets(self._engine, self._clock).get(task.dataset) if task.kind == "import" else None
        if dataset is not None:
            self.drop_uploads(dataset)

    def drop_uploads(self, dataset: Dataset) -> None:
        """Deletes the files from which a data set was, or was to be, imported."""
        for each in dataset.source.get("uploads", ()):
            drop_upload(self._engine, self._place, each["id"])

    def repeat_import(self, dataset: Dataset) -> None:
        """Repeats the import of a data set, which failed. Raises Problem 409 if it has not, or its files are gone."""
        ids = [each["id"] for each in dataset.source.get("uploads", ())]
        with writing(self._engine) as connection:
            n_known = connection.execute(select(func.count()).where(UPLOAD.c.id.in_(ids))).scalar_one()
            if n_known != len(ids):
                raise Problem(409, "the uploaded files are gone", hint="delete the data set, and upload them again")
            failed = (DATASET.c.id == dataset.id) & (DATASET.c.state == "failed")
            values = {"state": "importing", "detail": "", "changed_at": self._clock()}
            if connection.execute(update(DATASET).where(failed).values(**values)).rowcount != 1:
                raise Problem(409, "only a failed import is repeated", got=dataset.state)
            connection.execute(insert(TASK).values(**self._row("import", dataset.id)))

    def trash(self, dataset: Dataset) -> None:
        """Deletes a data set so that it can be restored, and ends the work on it.

        One that is being imported is restored as one whose import failed, and is repeated from what was uploaded.
        """
        with self._lock:
            self._end_all(dataset.id)
            Datasets(self._engine, self._clock).trash(dataset.id)
            self._end_all(dataset.id)  # what was asked for before it was in the trash

    def purge(self, dataset: Dataset) -> None:
        """Deletes a data set of the trash for good, with what was uploaded for it, unless it was restored meanwhile."""
        with self._lock:
            if Datasets(self._engine, self._clock).purge(dataset.id):
                shutil.rmtree(self._place.check(dataset.id), ignore_errors=True)
                self.drop_uploads(dataset)

    def _end_all(self, dataset: str) -> None:
        for task in self.open(dataset):
            self._end_process(task)
            self._fail(task, _DELETED, may_pass=True)

    def _end_process(self, task: Task) -> None:
        known = self._starts.pop(task.id, None)
        if known is not None:
            known.process.kill()
            known.process.wait()
        if (self._place.task(task.id) / LOCK).exists():  # one that a server before this one started
            kill_orphans(self._place.task(task.id) / LOCK, None)


def read_json_result(path: pathlib.Path) -> dict[str, Any]:
    """The result of a task, of any size; {"error": ...} if it is malformed."""
    try:
        tree = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        return {"error": f"the result cannot be read: {error}"}
    return tree if isinstance(tree, dict) else {"error": "the result is malformed"}
