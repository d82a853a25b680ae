"""Jobs: create one, and ask it to pause, resume, stop, end at once, start again, or write its stacks."""

import pathlib
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import Form, Path, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.roles import includes
from cvzoo.studio.access.who import Reader, Trainer, require_owner
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.api.found_run import found_job
from cvzoo.studio.api.named_data import require_data
from cvzoo.studio.data.about_training import known_of
from cvzoo.studio.jobs.job import PRIORITIES, USUAL, Job, Relation
from cvzoo.studio.jobs.recipe_helper import check, preview, recipes
from cvzoo.studio.jobs.spec import Spec, TrainSpec
from cvzoo.studio.jobs.states import LIVING, allowed
from cvzoo.studio.problems import Problem, can_be_shown
from cvzoo.studio.routes import api_router, page_router
from cvzoo.studio.state import Studio, studio_of

router = api_router("jobs")
Action: TypeAlias = Literal["start", "pause", "resume", "stop", "kill", "retry", "hold", "release", "dump"]
_Short: TypeAlias = Annotated[str, Field(max_length=200)]
_Long: TypeAlias = Annotated[str, Field(max_length=2000)]
_Name: TypeAlias = Annotated[str, Path(max_length=200)]


class Values(BaseModel):
    """Of a training. settings: name -> text, as KEY=VALUE of `cvzoo train`, those that differ from the recipe's"""

    data: _Long
    settings: Annotated[dict[_Short, _Long], Field(max_length=300)] = {}


class NewJob(BaseModel):
    """A training. settings: name -> text, as KEY=VALUE of `cvzoo train`, those that differ from the recipe's

    start: false of a draft, which is saved as it is, and checked when it is started; priority: 0 to 9, 9 comes first
    """

    recipe: _Short
    data: _Long
    name: _Short = ""
    settings: Annotated[dict[_Short, _Long], Field(max_length=300)] = {}
    start: bool = True
    priority: Annotated[int, Field(ge=PRIORITIES[0], le=PRIORITIES[-1])] = USUAL


@router.get("/recipes")
def list_recipes(_: Reader) -> dict[str, Any]:
    """The recipes, with the help, unit, default and expected values of each setting."""
    return {"items": list(recipes().values())}


@router.get("/recipes/{recipe}")
def get_recipe(recipe: _Name, _: Reader) -> dict[str, Any]:
    """One of the recipes."""
    return found_recipe(recipe)


@router.post("/recipes/{recipe}:preview")
def preview_recipe(request: Request, recipe: _Name, body: Values, who: Trainer) -> dict[str, Any]:
    """What a training with these values would do, which is not started: `rates`, pairs of update and learning rate;
    `n_update`; `reach` of the anchors, null of networks without; `sheet`, a JPEG as base64 of the first images after
    augmentation; `known` of the data, null if they are no version of a data set: leaks and other findings, and classes
    that a split lacks. 422 with `fields` if a setting or the data are wrong.
    """
    found_recipe(recipe)
    require_data(request, who, body.data)
    answer = preview(recipe, body.data, body.settings)
    if answer["fields"]:
        raise _wrong(answer["fields"])
    return {**answer["preview"], "known": known_of(studio_of(request).data, body.data)}


def found_recipe(name: str) -> dict[str, Any]:
    """The recipe. Raises Problem 404."""
    found = recipes().get(name)
    if found is None:
        raise Problem(404, "there is no such recipe", hint="GET /api/v1/recipes lists them")
    return found


@router.post("/jobs", status_code=201)
def create_job(request: Request, body: NewJob, who: Trainer) -> dict[str, Any]:
    """A new training at the end of the queue; 422 with `fields` if a setting or the data are wrong."""
    spec = TrainSpec(body.recipe, body.data, tuple(body.settings.items()))
    if body.start:
        check_spec(request, spec, who)
    if body.priority > USUAL and not includes(who.role, "administrator"):
        raise Problem(403, f"only administrators give priorities above {USUAL}", hint="ask an administrator")
    job = new_job(request, body.name, spec, who, is_draft=not body.start, priority=body.priority)
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


def check_spec(request: Request, spec: TrainSpec, who: Identity) -> None:
    """Raises Problem 403 of data that the user may not name, 422 with `fields` if the training cannot be started."""
    require_data(request, who, spec.data)
    wrong = check(spec.recipe, spec.data, dict(spec.settings))
    if wrong:
        raise _wrong(wrong)


def _wrong(fields: dict[str, str]) -> Problem:
    return Problem(422, "the training cannot be started with these values", fields=fields)


def require_place(studio: Studio, user: str | None) -> None:
    """Raises Problem 409 if the user has as many queued jobs as the quota allows."""
    refusal = studio.use.refusal(user)
    if refusal is not None:
        raise Problem(409, refusal, hint="wait for one, stop one, save a draft, or ask an administrator for more")


def new_job(
    request: Request,
    name: str,
    spec: Spec,
    who: Identity,
    *,
    parent: str | None = None,
    relation: Relation = "",
    fill: Callable[[pathlib.Path], None] | None = None,
    is_draft: bool = False,
    priority: int = USUAL,
) -> Job:
    """Creates a job and records it in the audit. Further arguments are those of `Jobs.create`."""
    studio = studio_of(request)
    if not can_be_shown(name):
        raise Problem(422, "some values are invalid", fields={"name": "a name of letters that can be shown"})
    if not is_draft:
        require_place(studio, who.user)
    job = studio.jobs.create(
        name, spec, who.user, parent=parent, relation=relation, fill=fill, is_draft=is_draft, priority=priority
    )
    origin = {"parent": parent, "relation": relation} if parent else {}
    audit(request, who, "job.create", job.id, spec.to_json() | origin)
    return job


def apply_action(request: Request, job_id: str, action: Action, who: Identity) -> None:
    """Changes a job's state. Raises Problem 404 or 409."""
    studio = studio_of(request)
    for _ in range(5):  # it may change between the look and the change
        job = found_job(request, job_id)
        require_owner(who, job.created_by)
        if action not in possible_actions(job):
            possible = ", ".join(possible_actions(job)) or "nothing: it ends by itself"
            raise Problem(409, f"a {job.state} job cannot {action}", expected=possible, got=action)
        if action == "start" and isinstance(job.spec, TrainSpec):
            check_spec(request, job.spec, who)
        if action in ("start", "resume", "retry"):
            require_place(studio, job.created_by)
        changed: Job | None
        if action == "dump":
            changed = job if studio.conductor.ask_for_stacks(job) else None
            if changed is None:
                raise Problem(409, "the job has no process now", hint="try again when it is running")
        elif action == "hold" or action == "release":
            changed = studio.jobs.hold(job, is_held=action == "hold")
        else:
            changed = studio.jobs.apply(job, action)
        if changed is not None:
            audit(request, who, f"job.{action}", job_id, {})
            return
    raise Problem(409, "the job changes too often; try again")


def possible_actions(job: Job) -> list[str]:
    """What people may ask of the job now, each an Action."""
    events: list[str] = [*allowed(job.state)]
    if job.state in LIVING:
        return [*events, "dump"]
    return [*events, "release" if job.is_held else "hold"] if job.state == "queued" else events


pages = page_router()


@pages.post("/jobs/{job}/actions")
def act_by_form(request: Request, job: str, action: Annotated[Action, Form()], who: Trainer) -> Response:
    """A button of the job's page."""
    apply_action(request, job, action, who)
    return RedirectResponse(f"/jobs/{job}", status_code=303)
