"""Jobs: create one, and ask it to pause, resume, stop, end at once, or start again."""

import pathlib
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field

from cvzoo.studio.access.audit import record
from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Reader, Trainer, require_owner
from cvzoo.studio.api.found_run import found_job
from cvzoo.studio.api.named_data import require_data
from cvzoo.studio.jobs.job import Job, Relation
from cvzoo.studio.jobs.recipe_helper import check, recipes
from cvzoo.studio.jobs.spec import Spec, TrainSpec
from cvzoo.studio.jobs.states import allowed, step
from cvzoo.studio.problems import Problem
from cvzoo.studio.state import Studio, studio_of

router = APIRouter(tags=["jobs"])
Action: TypeAlias = Literal["pause", "resume", "stop", "kill", "retry"]
_Short: TypeAlias = Annotated[str, Field(max_length=200)]
_Long: TypeAlias = Annotated[str, Field(max_length=2000)]


class NewJob(BaseModel):
    """A training. settings: name -> text, as KEY=VALUE of `cvzoo train`, those that differ from the recipe's"""

    recipe: _Short
    data: _Long
    name: _Short = ""
    settings: Annotated[dict[_Short, _Long], Field(max_length=300)] = {}


@router.get("/recipes")
def list_recipes(_: Reader) -> dict[str, Any]:
    """The recipes, with the help, unit, default and expected values of each setting."""
    return {"items": list(recipes().values())}


@router.post("/jobs", status_code=201)
def create_job(request: Request, body: NewJob, who: Trainer) -> dict[str, Any]:
    """A new training at the end of the queue; 422 with `fields` if a setting or the data are wrong."""
    require_data(request, who, body.data)
    wrong = check(body.recipe, body.data, body.settings)
    if wrong:
        raise Problem(422, "the training cannot be started with these values", fields=wrong)
    spec = TrainSpec(body.recipe, body.data, tuple(body.settings.items()))
    job = new_job(request, body.name, spec, who)
    found = studio_of(request).runs.record(job.id)
    assert found is not None
    return found.to_json()


@router.post("/jobs/{job}:{action}", status_code=202)
def act(request: Request, job: str, action: Action, who: Trainer) -> dict[str, Any]:
    """Asks the job for something; 409 with what is possible in its state."""
    apply_action(request, job, action, who)
    found = studio_of(request).runs.record(job)
    assert found is not None
    return found.to_json()


def new_job(
    request: Request,
    name: str,
    spec: Spec,
    who: Identity,
    *,
    parent: str | None = None,
    relation: Relation = "",
    fill: Callable[[pathlib.Path], None] | None = None,
) -> Job:
    """Creates a job and records it in the audit. parent, relation, fill: as of `Jobs.create`"""
    studio = studio_of(request)
    if name and not name.isprintable():
        raise Problem(422, "some values are invalid", fields={"name": "a name of letters that can be shown"})
    job = studio.jobs.create(name, spec, who.user, parent=parent, relation=relation, fill=fill)
    origin = {"parent": parent, "relation": relation} if parent else {}
    _record(request, studio, who, "job.create", job.id, spec.to_json() | origin)
    return job


def apply_action(request: Request, job_id: str, action: Action, who: Identity) -> None:
    """Changes a job's state. Raises Problem 404 or 409."""
    studio = studio_of(request)
    for _ in range(5):  # it may change between the look and the change
        job = found_job(request, job_id)
        require_owner(who, job.created_by)
        if step(job.state, action) is None:
            possible = ", ".join(allowed(job.state)) or "nothing: it ends by itself"
            raise Problem(409, f"a {job.state} job cannot {action}", expected=possible, got=action)
        if studio.jobs.apply(job, action) is not None:
            _record(request, studio, who, f"job.{action}", job_id, {})
            return
    raise Problem(409, "the job changes too often; try again")


def _record(request: Request, studio: Studio, who: Identity, action: str, thing: str, detail: dict[str, Any]) -> None:
    address = request.client.host if request.client else ""
    record(studio.engine, studio.clock, user=who.user, address=address, action=action, thing=thing, detail=detail)


pages = APIRouter(include_in_schema=False)


@pages.post("/jobs/{job}/actions")
def act_by_form(request: Request, job: str, action: Annotated[Action, Form()], who: Trainer) -> Response:
    """A button of the job's page."""
    apply_action(request, job, action, who)
    return RedirectResponse(f"/jobs/{job}", status_code=303)
