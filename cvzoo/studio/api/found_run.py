"""The run that a route's path names."""

from typing import Annotated, TypeAlias

from fastapi import Depends, Request

from cvzoo.studio.access.who import Reader
from cvzoo.studio.ids import is_id
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.run_record import RunRecord
from cvzoo.studio.problems import Problem
from cvzoo.studio.state import studio_of


def found_run(request: Request, job: str, _: Reader) -> RunRecord:
    """The run, for those who may read; others learn nothing of it. Raises Problem 401, 404."""
    record = studio_of(request).runs.record(job) if is_id(job, "wr") or is_id(job, "jb") else None
    if record is None:
        raise Problem(404, "there is no such run", hint="its folder may have been moved or deleted")
    return record


def found_job(request: Request, job: str) -> Job:
    """The job. Raises Problem 404; of a run of a watched folder, too, which is only shown."""
    found = studio_of(request).jobs.get(job) if is_id(job, "jb") else None
    if found is None:
        raise Problem(
            404, "there is no such job", hint="it may be in the trash; runs of watched folders are only shown"
        )
    return found


FoundRun: TypeAlias = Annotated[RunRecord, Depends(found_run)]
