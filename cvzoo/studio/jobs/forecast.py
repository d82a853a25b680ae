"""When queued jobs will start: by what runs now, and by how long such jobs took before."""

import os
import statistics
from collections.abc import Sequence

from cvzoo.studio.jobs.all_runs import AllRuns
from cvzoo.studio.jobs.conductor import attempt_folder, lane_of
from cvzoo.studio.jobs.job import Job, Jobs
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.run_record import number
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.place import Place
from cvzoo.studio.worker.attempt import EXIT, STARTED

_N_LAST = 5  # jobs of a kind whose median is taken


def starts(left: float | None, durations: Sequence[float | None]) -> list[float | None]:
    """In how many seconds each job of a lane starts; None if that is not known.

    left: seconds of what runs, 0 if nothing does, None if unknown; durations: of the jobs that wait, in their order
    """
    found: list[float | None] = []
    at = left
    for duration in durations:
        found.append(at)
        at = None if at is None or duration is None else at + duration
    return found


class Forecast:
    """The times of jobs, in seconds. jobs, runs, place: of the studio; now: milliseconds since 1970"""

    def __init__(self, jobs: Jobs, runs: AllRuns, place: Place, now: int):
        self._runs, self._place, self._now = runs, place, now
        self._living = jobs.living()
        self._done = [job for job in jobs.all() if job.state == "succeeded"]

    def starts_of(self, lane: str, queued: Sequence[Job]) -> dict[str, float | None]:
        """When the jobs of the lane start, by identifier; that of a held one is unknown, and it delays none."""
        running = [job for job in self._living if lane_of(job.spec) == lane]
        left: float | None = 0.0
        for job in running:
            mine = self._left(job)
            left = None if left is None or mine is None else max(left, mine)
        moving = [job for job in queued if not job.is_held]
        found = zip(moving, starts(left, [self._duration(job) for job in moving]))
        return {job.id: None for job in queued} | {job.id: at for job, at in found}

    def _left(self, job: Job) -> float | None:
        record = self._runs.record(job.id)
        if record is not None and record.seconds_left is not None:
            return record.seconds_left
        usual, at = self._usual(job), self._started(job)
        return None if usual is None or at is None else max(usual - (self._now - at) / 1000, 0.0)

    def _duration(self, job: Job) -> float | None:
        """Of what remains of the job."""
        record = self._runs.record(job.id)
        if record is not None and record.n_iteration and record.iteration and record.elapsed:
            return max(record.n_iteration - record.iteration, 0) * record.elapsed / record.iteration
        return self._usual(job)

    def _usual(self, job: Job) -> float | None:
        """The median of the last jobs of its kind; of trainings those of the same recipe and data, by epoch."""
        spec = job.spec
        if not isinstance(spec, TrainSpec):
            same = [each for each in self._done if each.spec.kind == spec.kind][:_N_LAST]
            return _median([self._took(each) for each in same])
        found: list[float | None] = []
        trained = [(each.id, each.spec) for each in self._done if isinstance(each.spec, TrainSpec)]
        alike = [job for job, done in trained if (done.recipe, done.data) == (spec.recipe, spec.data)]
        for each in alike[:_N_LAST]:
            record = self._runs.record(each)
            if record is not None and record.elapsed and record.n_epoch:
                epochs = number(_float(dict(spec.settings).get("epochs"))) or record.n_epoch
                found.append(record.elapsed / record.n_epoch * epochs)
        return _median(found)

    def _took(self, job: Job) -> float | None:
        at = self._started(job)
        try:
            end = os.stat(attempt_folder(self._place.run(job.id), job.attempt) / EXIT).st_mtime_ns / 1e6
        except OSError:
            return None
        return None if at is None else max((end - at) / 1000, 0.0)

    def _started(self, job: Job) -> float | None:
        folder = attempt_folder(self._place.run(job.id), job.attempt)
        return number(read_json_object(folder / STARTED).get("at"))


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _float(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
