"""Jobs in the database; their files decide what happened to them."""

import dataclasses
import json
from typing import Any, get_args

from sqlalchemy import Engine, Row, ScalarSelect, Select, func, insert, select, update

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.clock import Clock
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import JOB
from cvzoo.studio.ids import is_id, new_id
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.spec import Spec, spec_from_json
from cvzoo.studio.jobs.states import LIVING, Event, Facts, JobState, allowed, step
from cvzoo.studio.place import Place

_SPEC = "job.json"
_WHOLE = ("rank", "attempt", "n_lost", "iteration", "queued_at", "place", "changed_at", "created_at")
QUEUED = select(JOB).where(JOB.c.state == "queued").order_by(JOB.c.place, JOB.c.id)


@dataclasses.dataclass(frozen=True)
class Job:
    """A row of the table; times are milliseconds since 1970."""

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


class Jobs:
    """The jobs of a studio. engine, place, clock: of the studio"""

    def __init__(self, engine: Engine, place: Place, clock: Clock):
        self._engine, self._place, self._clock = engine, place, clock

    def create(self, name: str, spec: Spec, user: str | None) -> Job:
        """A new job at the end of the queue; its folder has the specification, so that the database can be rebuilt."""
        job = new_id("jb")
        folder = self._place.run(job)
        folder.mkdir(mode=0o700)
        name = (name.strip() or spec.title)[:120]
        with atomic_write(folder / _SPEC) as file:
            file.write(json.dumps({"name": name, "created_at": self._clock(), **spec.to_json()}).encode())
        self._insert(job, name, spec, "queued", "", user)
        return self._known(job)

    def get(self, job: str) -> Job | None:
        """The job; None if there is none, or its row cannot be read."""
        with reading(self._engine) as connection:
            row = connection.execute(select(JOB).where(JOB.c.id == job)).first()
        return None if row is None else job_of(row)

    def all(self) -> list[Job]:
        """All jobs, the newest first. Rows that this version cannot read are left out, here and below."""
        return self._found(select(JOB).order_by(JOB.c.created_at.desc()))

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
        detail: str = "",
    ) -> Job | None:
        """The job after the event; None if it changed meanwhile, so that the event is to be judged again.

        attempt, iteration, n_lost: what changes with it; detail: why the event happens, kept while it pauses
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
        if state == "queued" and event in ("resume", "retry"):
            values |= {"queued_at": now, "place": _at_the_end(), "n_lost": 0}
        with writing(self._engine) as connection:
            mine = (JOB.c.id == job.id) & (JOB.c.rank == job.rank)
            if connection.execute(update(JOB).where(mine).values(**values)).rowcount != 1:
                return None
        return self._known(job.id)

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
                name = str(tree.get("name") or spec.title)[:120]
                self._insert(folder.name, name, spec, "stopped", detail, None, max(attempts, default=0))
                n += 1
        return n

    def _found(self, query: Select[Any]) -> list[Job]:
        with reading(self._engine) as connection:
            jobs = [job_of(row) for row in connection.execute(query)]
        return [job for job in jobs if job is not None]

    def _insert(
        self, job: str, name: str, spec: Spec, state: JobState, detail: str, user: str | None, attempt: int = 0
    ) -> None:
        now = self._clock()
        row = {"id": job, "name": name, "spec": json.dumps(spec.to_json()), "state": state, "detail": detail}
        times = {"queued_at": now, "changed_at": now, "created_at": now, "created_by": user}
        numbers = {"rank": 0, "attempt": attempt, "n_lost": 0, "iteration": 0, "place": _at_the_end()}
        with writing(self._engine) as connection:
            connection.execute(insert(JOB).values(**row, **times, **numbers))

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
    tree["spec"] = spec
    return Job(**tree)
