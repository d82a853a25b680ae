"""Snapshots of runs: what there is, and which ones people keep."""

import errno
from typing import Annotated, TypeAlias

from fastapi import Form, Path, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Reader, Trainer, require_owner
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.api.found_run import FoundRun, found_job
from cvzoo.studio.jobs.rows import Row
from cvzoo.studio.jobs.run_record import RunRecord
from cvzoo.studio.jobs.snapshots import RunSnapshot, keep, release, snapshots
from cvzoo.studio.problems import JSONText, Problem
from cvzoo.studio.routes import api_router, page_router
from cvzoo.studio.state import studio_of

router = api_router("jobs")
pages = page_router()
_Iteration: TypeAlias = Annotated[int, Path(ge=0, lt=10**12)]
# of a file system on which a file cannot have two names
_NO_NAMES = (errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOTSUP)


class Kept(BaseModel):
    """Whether a person keeps the snapshot."""

    kept: bool


@router.get("/jobs/{job}/snapshots")
def list_snapshots(run: FoundRun, _: Reader) -> Response:
    """The snapshots by iteration, with the epoch, the scores of the log at it, and `kept`: "person", who takes it back
    by PATCH, or the training's "policy", which removes all but the newest, "best" of the one with the best score.
    """
    return JSONText({"items": [each.to_json() for each in snapshots_of(run)]})


@router.patch("/jobs/{job}/snapshots/{iteration}")
def change_snapshot(request: Request, job: str, iteration: _Iteration, body: Kept, who: Trainer) -> Response:
    """Keeps a snapshot of a job until that is taken back or the job is deleted, or leaves it to the training, which may
    have removed it: `kept` is null then. 404 if there is none.
    """
    change(request, job, iteration, body.kept, who)
    run = studio_of(request).runs.record(job)
    found = [] if run is None else [each for each in snapshots_of(run) if each.iteration == iteration]
    return JSONText(found[0].to_json() if found else {"iteration": iteration, "kept": None})


def snapshots_of(run: RunRecord, rows: list[Row] | None = None) -> list[RunSnapshot]:
    """The snapshots of a run. rows: of its log, if they are known"""
    return snapshots(run.folder, run.best_key, run.best_is, rows)


def change(request: Request, job: str, iteration: int, is_kept: bool, who: Identity) -> None:
    """Keeps a snapshot, or leaves it to the training, and records it in the audit. Raises Problem 403, 404, 409."""
    found = found_job(request, job)
    require_owner(who, found.created_by)
    run = studio_of(request).place.run(found.id)
    try:
        (keep if is_kept else release)(run, iteration)
    except OSError as error:
        if error.errno in _NO_NAMES:
            raise Problem(409, "the file system of the studio gives a file no second name") from None
        if error.errno in (None, errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise Problem(404, "there is no such snapshot", hint="the training may have removed it") from None
        raise
    audit(request, who, "job.snapshot", job, {"iteration": iteration, "kept": is_kept})


@pages.post("/jobs/{job}/snapshots/{iteration}")
def change_by_form(
    request: Request, job: str, iteration: _Iteration, who: Trainer, kept: Annotated[bool, Form()]
) -> Response:
    """The button of the job's page."""
    change(request, job, iteration, kept, who)
    return RedirectResponse(f"/jobs/{job}#h-snapshots", status_code=303)
