"""Why a user's jobs wait: what they take, compared with the user's quota."""

import time
from collections.abc import Callable

from sqlalchemy import Engine

from cvzoo.studio.access.quotas import quotas
from cvzoo.studio.jobs.job import Job, Jobs
from cvzoo.studio.place import Place, statuses_below

_FRESH_S = 60.0  # how long the size of a user's folders is taken as known


class Use:
    """What the jobs of users take. engine, jobs, place: of the studio; clock: seconds"""

    def __init__(self, engine: Engine, jobs: Jobs, place: Place, clock: Callable[[], float] = time.monotonic):
        self._engine, self._jobs, self._place, self._clock = engine, jobs, place, clock
        self._bytes: dict[str, tuple[float, int]] = {}

    def reasons(self, queued: list[Job], living: list[Job]) -> dict[str, str]:
        """By identifier, why each of the queued jobs may not start yet; those that may are left out."""
        limited = quotas(self._engine) if queued else {}
        found = {}
        for job in queued:
            if job.created_by is None or job.created_by not in limited:
                continue
            name, quota = limited[job.created_by]
            n = sum(each.created_by == job.created_by for each in living)
            if quota.n_running is not None and n >= quota.n_running:
                found[job.id] = f"Waits: {n} of at most {quota.n_running} jobs of {name} are running."
            elif quota.n_byte is not None and (used := self.n_byte(job.created_by)) > quota.n_byte:
                found[job.id] = (
                    f"Waits: the jobs of {name} have {used / 1e9:.1f} of at most {quota.n_byte / 1e9:.1f} GB; "
                    "delete some for good."
                )
        return found

    def refusal(self, user: str | None) -> str | None:
        """Why the user may not queue a further job; None if it is allowed."""
        known = quotas(self._engine).get(user or "")
        if known is None or known[1].n_queued is None:
            return None
        n = sum(job.created_by == user for job in self._jobs.queued())
        return None if n < known[1].n_queued else f"{n} jobs of yours wait, of at most {known[1].n_queued}"

    def n_byte(self, user: str) -> int:
        """The bytes of the folders of the user's jobs, with those of the trash; a file with two names counts once."""
        known = self._bytes.get(user)
        if known is None or self._clock() - known[0] > _FRESH_S:
            seen: dict[tuple[int, int], int] = {}
            for job in (*self._jobs.all(), *self._jobs.trashed()):
                if job.created_by == user:
                    found = statuses_below(self._place.run(job.id))
                    seen |= {(status.st_dev, status.st_ino): status.st_size for status in found}
            known = self._bytes[user] = self._clock(), sum(seen.values())
        return known[1]
