"""All runs that are shown: those of watched folders, and the studio's own jobs."""

import dataclasses
import os

from cvzoo.studio.clock import Clock
from cvzoo.studio.ids import is_id
from cvzoo.studio.jobs.conductor import attempt_folder
from cvzoo.studio.jobs.job import Job, Jobs
from cvzoo.studio.jobs.run_record import RunRecord, read_record
from cvzoo.studio.jobs.spec import EvaluateSpec, TrainSpec
from cvzoo.studio.jobs.watched import WatchedRuns, marks_of
from cvzoo.studio.place import Place
from cvzoo.studio.worker.attempt import LOG

_SILENT_S = 600.0  # without a sign of life, after which a training may hang
_SILENT_GAPS = 3  # or more, of one whose validations or iterations take minutes
_ALIVE = ("starting", "running")
_FIRST = ("running", "starting", "pausing", "stopping", "killing")


class AllRuns:
    """Trainings; other jobs have records, too, but are not in the list. watched, jobs, place, clock: of the studio"""

    def __init__(self, watched: WatchedRuns, jobs: Jobs, place: Place, clock: Clock):
        self._watched, self._jobs, self._place, self._clock = watched, jobs, place, clock
        self._records: dict[str, tuple[tuple[int, ...], RunRecord]] = {}

    @property
    def is_truncated(self) -> bool:
        """Whether watched folders have more subfolders than are searched."""
        return self._watched.is_truncated

    def records(self) -> list[RunRecord]:
        """All of them, running ones first, then those that changed last."""
        found = [self._judged(each) for each in self._watched.records()]
        found += [self._of(job) for job in self._jobs.all() if isinstance(job.spec, TrainSpec)]
        return sorted(found, key=lambda record: (record.state not in _FIRST, -record.changed_at, record.name))

    def record(self, run_id: str) -> RunRecord | None:
        """The run or job; None if there is none."""
        if not is_id(run_id, "jb"):
            found = self._watched.record(run_id)
            return None if found is None else self._judged(found)
        job = self._jobs.get(run_id)
        return None if job is None else self._of(job)

    def _of(self, job: Job) -> RunRecord:
        record = self._known(job)
        return self._judged(record, job) if isinstance(job.spec, TrainSpec) else record

    def _judged(self, record: RunRecord, job: Job | None = None) -> RunRecord:
        """The record, which says since when there is no sign of life if that is unusually long."""
        if record.state not in _ALIVE:
            return record
        last = record.changed_at
        if job is not None:
            try:
                log = attempt_folder(record.folder, job.attempt) / LOG
                last = max(last, os.stat(log).st_mtime_ns // 1_000_000)
            except OSError:
                pass
        limit = max(_SILENT_S, _SILENT_GAPS * record.longest_gap)
        return dataclasses.replace(record, silent_since=last) if self._clock() - last > 1000 * limit else record

    def _known(self, job: Job) -> RunRecord:
        folder = self._place.run(job.id)
        marks = (job.rank, *marks_of(folder))
        known = self._records.get(job.id)
        if known is not None and known[0] == marks:
            return known[1]
        read = read_record(folder, job.id, job.name)
        is_running = job.state == "running"
        record = dataclasses.replace(
            read,
            state=job.state,
            detail=job.detail,
            recipe=job.spec.recipe if isinstance(job.spec, TrainSpec) else job.spec.kind,
            data=job.spec.data if isinstance(job.spec, TrainSpec | EvaluateSpec) else "",
            seconds_left=read.seconds_left if is_running else None,
            changed_at=max(read.changed_at, job.changed_at),
            tags=job.tags,
            outcome="" if job.outcome is None else job.outcome.word,
            hint="" if job.outcome is None else job.outcome.hint,
        )
        self._records[job.id] = marks, record
        return record
