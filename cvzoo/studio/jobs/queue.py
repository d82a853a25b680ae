"""The order in which queued jobs start, and who may change it."""

import dataclasses
import hashlib
from collections.abc import Sequence

from sqlalchemy import Engine, update

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.roles import includes
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import JOB
from cvzoo.studio.jobs.conductor import lane_of
from cvzoo.studio.jobs.job import QUEUED, USUAL, Job, job_of
from cvzoo.studio.problems import Problem


@dataclasses.dataclass(frozen=True)
class Waiting:
    """A queued job. position: in its lane, from 1 on; n: how many wait there

    earlier, later: before which job ("": after all of its priority) it comes when it is moved by one; None if it may
        not be
    """

    job: Job
    lane: str
    position: int
    n: int
    earlier: str | None = None
    later: str | None = None


@dataclasses.dataclass(frozen=True)
class Queue:
    """The queued jobs, the first one first; those of a lane do not wait for those of the other."""

    jobs: list[Job]

    @property
    def etag(self) -> str:
        """Changes with the order."""
        return hashlib.sha256(" ".join(job.id for job in self.jobs).encode()).hexdigest()[:16]

    def lane(self, name: str) -> list[Job]:
        """The jobs of a lane."""
        return [job for job in self.jobs if lane_of(job.spec) == name]

    def waiting(self, who: Identity) -> list[Waiting]:
        """The jobs, and where the user may move them."""
        found = []
        for name in ("long", "short"):
            lane = self.lane(name)
            for position, job in enumerate(lane):
                jobs = _equals(lane, job)
                i = jobs.index(job)
                earlier = jobs[i - 1].id if i else None
                later = None if i + 1 == len(jobs) else jobs[i + 2].id if i + 2 < len(jobs) else ""
                if earlier is not None and _refusal(who, job, jobs, earlier) is not None:
                    earlier = None
                if later is not None and _refusal(who, job, jobs, later or None) is not None:
                    later = None
                found.append(Waiting(job, name, position + 1, len(lane), earlier, later))
        return found


def read_queue(engine: Engine) -> Queue:
    """The queue as it is."""
    with reading(engine) as connection:
        jobs = [job_of(row) for row in connection.execute(QUEUED)]
    return Queue([job for job in jobs if job is not None])


def move(engine: Engine, job: str, before: str | None, who: Identity, known: str | None = None) -> tuple[int, int]:
    """Moves a job among those of its lane and priority: before another one, or to the end; returns the positions before
    and after, from 1 on.

    known: the etag of the order that the user has seen; None: whatever it is
    Raises Problem 403, 409 if one of the two does not wait any more, waits in the other lane, or has another priority,
    412.
    """
    with writing(engine) as connection:  # nothing is queued or started meanwhile
        found = [job_of(row) for row in connection.execute(QUEUED)]
        queue = Queue([each for each in found if each is not None])
        if known is not None and known != queue.etag:
            raise Problem(412, "the queue has changed", expected=queue.etag, got=known)
        mine = _found(queue.jobs, job)
        lane = _equals(queue.lane(lane_of(mine.spec)), mine)
        if before is not None:
            other = _found(queue.lane(lane_of(mine.spec)), before)
            if other.priority != mine.priority:
                raise Problem(
                    409,
                    "the jobs have different priorities, which come before the order",
                    expected=str(other.priority),
                    got=str(mine.priority),
                    hint="change its priority",
                )
        refusal = _refusal(who, mine, lane, before)
        if refusal is not None:
            raise Problem(403, refusal, hint="ask its creator or an administrator")
        after = _moved(lane, mine, before)
        # the same places, so that what runs, or is queued later, keeps its own
        for place, each in zip(sorted(each.place for each in lane), after):
            if each.place != place:
                connection.execute(update(JOB).where(JOB.c.id == each.id).values(place=place))
    return lane.index(mine) + 1, after.index(mine) + 1


def priority_refusal(who: Identity, job: Job, priority: int) -> str | None:
    """Why the user may not give the job this priority; None if it is allowed. Only administrators let jobs pass."""
    if priority > max(USUAL, job.priority) and not includes(who.role, "administrator"):
        return f"only administrators give priorities above {USUAL}"
    return None


def _equals(lane: Sequence[Job], job: Job) -> list[Job]:
    """The jobs of the lane that have the job's priority."""
    return [each for each in lane if each.priority == job.priority]


def _found(jobs: Sequence[Job], job: str) -> Job:
    found = next((each for each in jobs if each.id == job), None)
    if found is None:
        raise Problem(
            409, "the job is not in this queue any more", expected=", ".join(each.id for each in jobs), got=job[:40]
        )
    return found


def _moved(lane: Sequence[Job], job: Job, before: str | None) -> list[Job]:
    if before == job.id:
        return list(lane)
    rest = [each for each in lane if each.id != job.id]
    at = next((i for i, each in enumerate(rest) if each.id == before), len(rest))
    return [*rest[:at], job, *rest[at:]]


def _refusal(who: Identity, job: Job, lane: Sequence[Job], before: str | None) -> str | None:
    """Why the user may not move the job so; None if it is allowed. Nobody makes others wait longer."""
    if includes(who.role, "administrator"):
        return None
    if not includes(who.role, "trainer") or job.created_by != who.user:
        return "this belongs to another user"
    after = _moved(lane, job, before)
    passed = [each for each in lane[: lane.index(job)] if after.index(each) > after.index(job)]
    if any(each.created_by != who.user for each in passed):
        return "the job would start before one of another user that was queued before it"
    return None
