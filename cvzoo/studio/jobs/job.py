"""Jobs in the database; their files decide what happened to them."""

import dataclasses
import json
import pathlib
import shutil
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, get_args

from sqlalchemy import Engine, Row, ScalarSelect, Select, delete, func, insert, select, update

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.server_settings import read_setting, write_setting
from cvzoo.studio.database.tables import JOB
from cvzoo.studio.ids import is_id, new_id
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.outcomes import Outcome, outcome_from_json
from cvzoo.studio.jobs.spec import Spec, spec_from_json
from cvzoo.studio.jobs.states import LIVING, Event, Facts, JobState, allowed, step
from cvzoo.studio.place import Place

Relation: TypeAlias = Literal["", "clone", "rerun", "extend", "remedy"]
_SPEC, _ABOUT, _HOLD = "job.json", "about.json", "queue_held_by"
_WHOLE = ("rank", "attempt", "n_lost", "iteration", "queued_at", "place", "changed_at", "created_at")
MAX_NOTES, MAX_TAGS = 10_000, 20
QUEUED = select(JOB).where(JOB.c.state == "queued").order_by(JOB.c.priority.desc(), JOB.c.place, JOB.c.id)
PRIORITIES, USUAL = range(10), 5


@dataclasses.dataclass(frozen=True)
class Job:
    """A row of the table; times are milliseconds since 1970.

    parent, relation: the job that it was made of, and how
    priority: 9 comes first; is_held: whether it waits until it is released
    """

    id: str
    name: str
    spec: Spec
    state: JobState
    detail: str
    rank: int
    attempt: int
    n_lost: int
    iteration: int
    queued_at: int
    place: int
    changed_at: int
    created_at: int
    created_by: str | None
    parent: str | None = None
    relation: Relation = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    trashed_at: int | None = None
    priority: int = USUAL
    is_held: bool = False
    outcome: Outcome | None = None


class Jobs:
    """The jobs of a studio. engine, place, clock: of the studio"""

    def __init__(self, engine: Engine, place: Place, clock: Clock):
        self._engine, self._place, self._clock = engine, place, clock

    def create(
        self,
        name: str,
        spec: Spec,
        user: str | None,
        *,
        parent: str | None = None,
        relation: Relation = "",
        fill: Callable[[pathlib.Path], None] | None = None,
        is_draft: bool = False,
        priority: int = USUAL,
    ) -> Job:
        """A new job at the end of the queue; its folder has the specification, so that the database can be rebuilt.

        fill: writes what the folder begins with; is_draft: whether it is only saved
        """
        job = new_id("jb")
        folder = self._place.run(job)
        folder.mkdir(mode=0o700)
        name = (name.strip() or spec.title)[:120]
        try:
            if fill is not None:
                fill(folder)
            origin = {"parent": parent, "relation": relation} if parent else {}
            tree = {"name": name, "created_at": self._clock(), **spec.to_json(), **origin}
            with atomic_write(folder / _SPEC) as file:
                file.write(json.dumps(tree).encode())
            state: JobState = "draft" if is_draft else "queued"
            self._insert(job, name, spec, state, "", user, parent=parent, relation=relation, priority=priority)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return self._known(job)

    def get(self, job: str) -> Job | None:
        """The job; None if there is none, if it was deleted, or its row cannot be read."""
        found = self._found(select(JOB).where(JOB.c.id == job))
        return found[0] if found else None

    def all(self) -> list[Job]:
        """All jobs, the newest first. Deleted ones, and rows that this version cannot read, are left out, here and
        below.
        """
        return self._found(select(JOB).order_by(JOB.c.created_at.desc()))

    def trashed(self) -> list[Job]:
        """Jobs that were deleted and can be restored."""
        return self._found(select(JOB), is_trashed=True)

    def living(self) -> list[Job]:
        """Jobs that have, or should have, a process."""
        return self._found(select(JOB).where(JOB.c.state.in_(LIVING)))

    def queued(self) -> list[Job]:
        """The queue, the first one first."""
        return self._found(QUEUED)

    def apply(
        self,
        job: Job,
        event: Event,
        facts: Facts | None = None,
        *,
        attempt: int | None = None,
        iteration: int | None = None,
        n_lost: int | None = None,
        outcome: Outcome | None = None,
        detail: str = "",
    ) -> Job | None:
        """The job after the event; None if it changed meanwhile, so that the event is to be judged again.

        attempt, iteration, n_lost, outcome: what changes with it; detail: why the event happens, kept while it pauses
        Raises ValueRangeError if the event is not possible in the job's state.
        """
        after = step(job.state, event, facts)
        if after is None:
            words = ", ".join(allowed(job.state)) or "wait"
            raise ValueRangeError(f"a {job.state} job cannot {event}", expected=words, got=event)
        state, why = after
        if state in ("pausing", "paused") and job.state != "queued":
            why = why or detail or (job.detail if job.state == "pausing" else "")
        now = self._clock()
        values: dict[str, Any] = {"state": state, "detail": why, "rank": job.rank + 1, "changed_at": now}
        more = {"attempt": attempt, "iteration": iteration, "n_lost": n_lost}
        values |= {key: value for key, value in more.items() if value is not None}
        if outcome is not None:
            values["outcome"] = json.dumps(outcome.to_json())
        if state == "queued" and event in ("start", "resume", "retry"):
            values |= {"queued_at": now, "place": _at_the_end(), "n_lost": 0}
        with writing(self._engine) as connection:
            mine = (JOB.c.id == job.id) & (JOB.c.rank == job.rank)
            if connection.execute(update(JOB).where(mine).values(**values)).rowcount != 1:
                return None
        return self._known(job.id)

    def describe(
        self,
        job: Job,
        *,
        name: str | None = None,
        notes: str | None = None,
        tags: Sequence[str] | None = None,
        priority: int | None = None,
    ) -> Job | None:
        """The job with another name, other notes, tags or another priority; None if it changed meanwhile."""
        given: dict[str, Any] = {"name": name, "notes": notes, "priority": priority}
        given["tags"] = None if tags is None else json.dumps(list(tags))
        return self._change(job, {key: value for key, value in given.items() if value is not None})

    def hold(self, job: Job, *, is_held: bool) -> Job | None:
        """The queued job, which waits until it is released, or does so no more; None if it changed meanwhile."""
        detail = {} if is_held or not job.is_held else {"detail": ""}
        return self._change(job, {"is_held": is_held, **detail})

    @property
    def now(self) -> int:
        """The time by the clock of the studio, as that of the jobs' changes."""
        return self._clock()

    @property
    def queue_held_by(self) -> str | None:
        """The user who held the whole queue; None if it runs."""
        found = read_setting(self._engine, _HOLD)
        return str(found) if found else None

    def hold_queue(self, user: str | None) -> None:
        """Starts no job any more until it is released, by None. user: who holds it, for people"""
        write_setting(self._engine, _HOLD, user)

    def redraft(self, job: Job, name: str, spec: Spec) -> Job | None:
        """The draft with another name and specification; None if it changed meanwhile, or is no draft any more."""
        if job.state != "draft":
            return None
        changed = self._change(job, {"name": name or spec.title, "spec": json.dumps(spec.to_json())})
        if changed is not None:
            path = self._place.run(job.id) / _SPEC
            tree = {"name": changed.name, "created_at": job.created_at, **spec.to_json()}
            origin = {"parent": job.parent, "relation": job.relation} if job.parent else {}
            with atomic_write(path) as file:
                file.write(json.dumps(tree | origin).encode())
        return changed

    def trash(self, job: Job) -> Job | None:
        """Deletes an ended job, so that it can be restored; None if it changed meanwhile."""
        return self._change(job, {"trashed_at": self._clock()})

    def restore(self, job: Job) -> Job | None:
        """Takes a deleted job back; None if it changed meanwhile."""
        return self._change(job, {"trashed_at": None})

    def purge(self, job: Job) -> None:
        """Deletes a job of the trash for good, unless it was restored meanwhile."""
        folder = self._place.run(job.id)
        gone = folder.with_name(f".{job.id}.deleted")
        mine = (JOB.c.id == job.id) & JOB.c.trashed_at.is_not(None)
        with writing(self._engine) as connection:
            if connection.execute(select(JOB.c.id).where(mine)).first() is None:
                return
            if folder.exists() and not gone.exists():
                folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        with writing(self._engine) as connection:  # last, as a folder without a row would be found again
            connection.execute(delete(JOB).where(mine))

    def _change(self, job: Job, values: dict[str, Any]) -> Job | None:
        with writing(self._engine) as connection:
            mine = (JOB.c.id == job.id) & (JOB.c.rank == job.rank)
            row = connection.execute(update(JOB).where(mine).values(**values, rank=job.rank + 1).returning(JOB)).first()
        found = None if row is None else job_of(row)
        if found is not None:  # for a database that is built again
            tree = {"name": found.name, "notes": found.notes, "tags": found.tags, "trashed_at": found.trashed_at}
            with atomic_write(self._place.run(job.id) / _ABOUT) as file:
                file.write(json.dumps(tree).encode())
        return found

    def tell(self, job: Job, detail: str) -> None:
        """Sets what is told of the job in its state; nothing if that has changed meanwhile."""
        with writing(self._engine) as connection:
            mine = (JOB.c.id == job.id) & (JOB.c.rank == job.rank)
            connection.execute(update(JOB).where(mine).values(detail=detail, rank=job.rank + 1))

    def reindex(self) -> int:
        """Adds jobs whose folders are not in the database, as stopped ones; returns how many."""
        with reading(self._engine) as connection:
            known = set(connection.scalars(select(JOB.c.id)))  # those that cannot be read, too: they are not replaced
        n = 0
        for folder in sorted(self._place.runs.iterdir()):
            tree = read_json_object(folder / _SPEC)
            spec = spec_from_json(tree)
            if is_id(folder.name, "jb") and folder.name not in known and spec is not None:
                attempts = [int(path.name) for path in folder.glob("attempts/*") if path.name.isdigit()]
                detail = "Its entry in the database was lost."
                about = _about_of(tree, read_json_object(folder / _ABOUT))
                name = about.pop("name") or spec.title
                self._insert(folder.name, name, spec, "stopped", detail, None, max(attempts, default=0), **about)
                n += 1
        return n

    def _found(self, query: Select[Any], *, is_trashed: bool = False) -> list[Job]:
        there = JOB.c.trashed_at.is_not(None) if is_trashed else JOB.c.trashed_at.is_(None)
        with reading(self._engine) as connection:
            jobs = [job_of(row) for row in connection.execute(query.where(there))]
        return [job for job in jobs if job is not None]

    def _insert(
        self,
        job: str,
        name: str,
        spec: Spec,
        state: JobState,
        detail: str,
        user: str | None,
        attempt: int = 0,
        *,
        parent: str | None = None,
        relation: str = "",
        notes: str = "",
        tags: str = "[]",
        trashed_at: int | None = None,
        priority: int = USUAL,
    ) -> None:
        now = self._clock()
        row = {"id": job, "name": name, "spec": json.dumps(spec.to_json()), "state": state, "detail": detail}
        times = {"queued_at": now, "changed_at": now, "created_at": now, "created_by": user}
        numbers = {"rank": 0, "attempt": attempt, "n_lost": 0, "iteration": 0, "place": _at_the_end()}
        about: dict[str, Any] = {"parent": parent, "relation": relation, "notes": notes, "tags": tags}
        about |= {"trashed_at": trashed_at, "priority": priority}
        with writing(self._engine) as connection:
            connection.execute(insert(JOB).values(**row, **times, **numbers, **about))

    def _known(self, job: str) -> Job:
        found = self.get(job)
        assert found is not None
        return found


def _at_the_end() -> ScalarSelect[int]:
    """The place after all others, those of running jobs included: one that is started again comes first."""
    return select(func.coalesce(func.max(JOB.c.place), 0) + 1).scalar_subquery()


def job_of(row: Row[Any]) -> Job | None:
    """The job of a row of the table; None if this version cannot read it."""
    tree: dict[str, Any] = dict(row._mapping)
    try:
        spec = spec_from_json(json.loads(tree["spec"]))
    except (ValueError, TypeError, RecursionError):
        return None
    whole = (tree[name] for name in _WHOLE)
    if spec is None or tree["state"] not in get_args(JobState) or not all(isinstance(each, int) for each in whole):
        return None
    tree |= {"spec": spec, "tags": _tags_of(tree["tags"]), "outcome": _outcome_of(tree["outcome"])}
    return Job(**tree)


def _outcome_of(text: str) -> Outcome | None:
    try:
        return outcome_from_json(json.loads(text)) if text else None
    except (ValueError, RecursionError):
        return None


def _tags_of(text: str) -> tuple[str, ...]:
    try:
        found = json.loads(text)
    except ValueError:
        return ()
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _about_of(made: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """The columns that job.json and about.json of a folder tell; either may be malformed, as the job can write them."""
    parent, relation, at = made.get("parent"), made.get("relation"), said.get("trashed_at")
    has_parent = isinstance(parent, str) and is_id(parent, "jb") and relation in get_args(Relation)
    tags = said.get("tags")
    return {
        "name": str(said.get("name") or made.get("name") or "")[:120],
        "parent": parent if has_parent else None,
        "relation": relation if has_parent else "",
        "notes": str(said.get("notes") or "")[:MAX_NOTES],
        "tags": json.dumps([str(each)[:40] for each in tags[:MAX_TAGS]] if isinstance(tags, list) else []),
        "trashed_at": at if isinstance(at, int) and not isinstance(at, bool) else None,
    }
