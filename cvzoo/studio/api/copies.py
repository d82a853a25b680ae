"""Jobs made of ended ones: with other settings, as a rerun, or for more epochs."""

import dataclasses
from typing import Annotated, Any, TypeAlias

from fastapi import Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Trainer
from cvzoo.studio.api.actions import check_spec, new_job
from cvzoo.studio.api.found_run import found_job
from cvzoo.studio.jobs.copies import copy_run, has_snapshot
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.jobs.states import ENDED
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router, page_router
from cvzoo.studio.state import studio_of

router = api_router("jobs")
pages = page_router()
_Short: TypeAlias = Annotated[str, Field(max_length=200)]
_Long: TypeAlias = Annotated[str, Field(max_length=2000)]
_Epochs: TypeAlias = Annotated[int, Field(ge=1, le=100_000)]


class Clone(BaseModel):
    """What differs from the job. settings: name -> text, in addition to those of the job; data: null: the same"""

    name: _Short = ""
    data: _Long | None = None
    settings: Annotated[dict[_Short, _Long], Field(max_length=300)] = {}


class Named(BaseModel):
    """The name of the new job."""

    name: _Short = ""


class Longer(BaseModel):
    """epochs: how many more"""

    epochs: _Epochs
    name: _Short = ""


@router.post("/jobs/{job}:clone", status_code=201)
def clone_job(request: Request, job: str, body: Clone, who: Trainer) -> dict[str, Any]:
    """A new training with the job's settings but for those that are named."""
    origin, spec = _training(request, job)
    changed = spec.changed(dict(body.settings))
    changed = dataclasses.replace(changed, data=spec.data if body.data is None else body.data)
    return _made(request, clone(request, body.name or f"{origin.name} again", changed, who, origin))


@router.post("/jobs/{job}:rerun", status_code=201)
def rerun_job(request: Request, job: str, body: Named, who: Trainer) -> dict[str, Any]:
    """The same training from the start; when it has finished, `repetition` tells whether it has the same bits."""
    return _made(request, rerun(request, job, body.name, who))


@router.post("/jobs/{job}:extend", status_code=201)
def extend_job(request: Request, job: str, body: Longer, who: Trainer) -> dict[str, Any]:
    """A new training that begins with a copy of this one, from its last snapshot, for more epochs."""
    return _made(request, extend(request, job, body.epochs, body.name, who))


@router.post("/jobs/{job}:remedy", status_code=201)
def remedy_job(request: Request, job: str, body: Named, who: Trainer) -> dict[str, Any]:
    """A new training with the settings that the job's `outcome` proposes: half of the learning rate, from the last
    snapshot, after values that are no numbers, or half of the batch after an end without memory. 409 if it has none.
    """
    return _made(request, remedy(request, job, body.name, who))


def remedy(request: Request, job: str, name: str, who: Identity) -> Job:
    """Queues the training that the outcome proposes. Raises Problem 403, 404, 409, 422."""
    origin, spec = _training(request, job)
    if origin.outcome is None or not origin.outcome.changes or origin.state not in ENDED:
        raise Problem(409, "the end of this training proposes no other settings")
    changes = dict(origin.outcome.changes)
    run = studio_of(request).place.run(origin.id)
    is_resumed = origin.outcome.is_resumed and has_snapshot(run)
    changed = dataclasses.replace(spec.changed(changes), continues=origin.id if is_resumed else "")
    check_spec(request, changed, who)
    words = ", ".join(f"{key} {value}" for key, value in changes.items())
    fill = (lambda folder: copy_run(run, folder)) if is_resumed else None
    name = name or f"{origin.name}, {words}"
    return new_job(request, name, changed, who, parent=origin.id, relation="remedy", fill=fill)


def clone(request: Request, name: str, spec: TrainSpec, who: Identity, origin: Job) -> Job:
    """Queues a training whose origin is another one. Raises Problem 403, 422."""
    check_spec(request, spec, who)
    return new_job(request, name, spec, who, parent=origin.id, relation="clone")


def rerun(request: Request, job: str, name: str, who: Identity) -> Job:
    """Queues the same training again. Raises Problem 403, 404, 409 unless it succeeded, 422."""
    origin, spec = _training(request, job)
    if origin.state != "succeeded":
        raise Problem(409, "only a training that succeeded has results to compare with", got=origin.state)
    if spec.continues:
        raise Problem(409, "a training that continued another one has no start of its own", hint="clone it")
    again = TrainSpec(spec.recipe, spec.data, spec.settings)
    check_spec(request, again, who)
    return new_job(request, name or f"{origin.name}, rerun", again, who, parent=origin.id, relation="rerun")


def extend(request: Request, job: str, epochs: int, name: str, who: Identity) -> Job:
    """Queues a training for more epochs. Raises Problem 403, 404, 409 without an end or a snapshot, 422."""
    origin, spec = _training(request, job)
    studio = studio_of(request)
    run = studio.place.run(origin.id)
    record = studio.runs.record(origin.id)
    if origin.state not in ENDED:
        raise Problem(409, "the training has not ended", expected=", ".join(ENDED), got=origin.state)
    if record is None or not record.n_epoch or not has_snapshot(run):
        raise Problem(409, "the training has left no snapshot to continue from", hint="start it again, or clone it")
    total = f"{record.n_epoch + epochs:g}"
    longer = dataclasses.replace(spec.changed({"epochs": total}), continues=origin.id)
    check_spec(request, longer, who)
    name = name or f"{origin.name}, {total} epochs"
    return new_job(
        request, name, longer, who, parent=origin.id, relation="extend", fill=lambda folder: copy_run(run, folder)
    )


def _training(request: Request, job: str) -> tuple[Job, TrainSpec]:
    found = found_job(request, job)
    if not isinstance(found.spec, TrainSpec):
        raise Problem(409, "only trainings are repeated or extended", got=found.spec.kind)
    return found, found.spec


def _made(request: Request, job: Job) -> dict[str, Any]:
    found = studio_of(request).runs.record(job.id)
    assert found is not None
    return found.to_json()


@pages.post("/jobs/{job}/rerun")
def rerun_by_form(request: Request, job: str, who: Trainer) -> Response:
    """The button of the job's page."""
    return RedirectResponse(f"/jobs/{rerun(request, job, '', who).id}", status_code=303)


@pages.post("/jobs/{job}/remedy")
def remedy_by_form(request: Request, job: str, who: Trainer) -> Response:
    """The button of the job's page."""
    return RedirectResponse(f"/jobs/{remedy(request, job, '', who).id}", status_code=303)


@pages.post("/jobs/{job}/extend")
def extend_by_form(
    request: Request, job: str, who: Trainer, epochs: Annotated[int, Form(ge=1, le=100_000)]
) -> Response:
    """The button of the job's page."""
    return RedirectResponse(f"/jobs/{extend(request, job, epochs, '', who).id}", status_code=303)
