"""What people say of jobs, their deletion, and the trash."""

from typing import Annotated, Any, TypeAlias

from fastapi import Form, Header, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.users import all_users
from cvzoo.studio.access.who import Annotator, Reader, Trainer, require_owner
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.api.found_run import found_job
from cvzoo.studio.etag import require_seen
from cvzoo.studio.jobs.job import MAX_NOTES, MAX_TAGS, PRIORITIES, Job
from cvzoo.studio.jobs.queue import priority_refusal
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.jobs.states import ENDED
from cvzoo.studio.pages.render import render
from cvzoo.studio.problems import Problem, can_be_shown, shown_name
from cvzoo.studio.routes import api_router, page_router
from cvzoo.studio.state import studio_of
from cvzoo.studio.trash import KEPT_MS, Trashed

router = api_router("jobs")
pages = page_router()
_PAGES = {"jb": "jobs", "ds": "data", "md": "models"}  # of restored things, by the prefix of identifiers
_Tag: TypeAlias = Annotated[str, Field(min_length=1, max_length=40)]
_Name: TypeAlias = Annotated[str, Field(max_length=120)]
_Notes: TypeAlias = Annotated[str, Field(max_length=MAX_NOTES)]


class About(BaseModel):
    """What is changed; null: it stays. priority: 0 to 9, which starts first; above 5 by administrators only"""

    name: _Name | None = None
    notes: _Notes | None = None
    tags: Annotated[list[_Tag], Field(max_length=MAX_TAGS)] | None = None
    priority: Annotated[int, Field(ge=PRIORITIES[0], le=PRIORITIES[-1])] | None = None


@router.patch("/jobs/{job}")
def describe_job(
    request: Request,
    response: Response,
    job: str,
    body: About,
    who: Trainer,
    if_match: Annotated[str | None, Header(max_length=80)] = None,
) -> dict[str, Any]:
    """Another name, other notes, tags or another priority; 412 with If-Match of an older state of the job."""
    changed = describe(request, job, body, who, if_match)
    response.headers["etag"] = f'"{changed.rank}"'
    found = studio_of(request).runs.record(job)
    assert found is not None
    return found.to_json()


@router.delete("/jobs/{job}", status_code=204)
def delete_job(request: Request, job: str, who: Trainer) -> None:
    """Moves an ended job to the trash, from which it can be restored for 30 days; 409 if it has not ended, or if
    a job that waits or runs uses its model.
    """
    delete(request, job, who)


@router.get("/trash")
def list_trash(request: Request, _: Reader) -> dict[str, Any]:
    """What was deleted, the last one first, and until when it can be restored."""
    return {"items": trash_rows(request)}


@router.post("/trash/{thing}:restore", status_code=204)
def restore_thing(request: Request, thing: str, who: Annotator) -> None:
    """Takes a deleted thing back."""
    restore(request, thing, who)


@router.delete("/trash/{thing}", status_code=204)
def purge_thing(request: Request, thing: str, who: Annotator) -> None:
    """Deletes a thing of the trash for good."""
    purge(request, thing, who)


def about_of(job: Job) -> dict[str, str]:
    """What is said of a job, as in its form."""
    return {"name": job.name, "tags": ", ".join(job.tags), "notes": job.notes}


def describe(
    request: Request, job: str, body: About, who: Identity, known: str | None = None, *, seen: str = ""
) -> Job:
    """Changes what is said of a job. Raises Problem 403, 404, 409, 412, 422.

    known: the job's rank; seen: as of `require_seen`
    """
    studio = studio_of(request)
    for _ in range(5):  # it may change between the look and the change
        found = found_job(request, job)
        require_owner(who, found.created_by)
        if known is not None and known.strip('"') != str(found.rank):
            raise Problem(412, "the job has changed", expected=str(found.rank), got=known[:40])
        tags = None if body.tags is None else _tags(body.tags)
        name = None if body.name is None else shown_name(body.name)
        refusal = None if body.priority is None else priority_refusal(who, found, body.priority)
        if refusal is not None:
            raise Problem(403, refusal, hint="ask an administrator")
        given = {"name": name, "tags": None if tags is None else ", ".join(tags), "notes": body.notes}
        require_seen(seen, about_of(found), {key: text for key, text in given.items() if text is not None})
        changed = studio.jobs.describe(found, name=name, notes=body.notes, tags=tags, priority=body.priority)
        if changed is not None:
            audit(request, who, "job.describe", job, body.model_dump(exclude_none=True, exclude={"notes"}))
            return changed
    raise Problem(409, "the job changes too often; try again")


def _tags(given: list[str]) -> list[str]:
    tags = list(dict.fromkeys(each.strip() for each in given if each.strip()))
    if not all(can_be_shown(each) for each in tags):
        raise Problem(422, "some values are invalid", fields={"tags": "words of letters that can be shown"})
    return tags


def delete(request: Request, job: str, who: Identity) -> None:
    """Moves a job to the trash. Raises Problem 403, 404, 409."""
    studio = studio_of(request)
    found = found_job(request, job)
    require_owner(who, found.created_by)
    if found.state not in (*ENDED, "draft"):
        raise Problem(409, f"a {found.state} job cannot be deleted", expected=", ".join(ENDED), hint="stop it first")
    waiting = (*studio.jobs.living(), *studio.jobs.queued())
    users = [each.name for each in waiting if not isinstance(each.spec, TrainSpec) and each.spec.source == found.id]
    if users:
        raise Problem(409, f"the job is used by {users[0]}", hint="wait for it, or stop it")
    if studio.jobs.trash(found) is None:
        raise Problem(409, "the job has changed meanwhile; try again")
    audit(request, who, "job.delete", job, {"name": found.name})


def restore(request: Request, thing: str, who: Identity) -> Trashed:
    """Takes a thing back. Raises Problem 403, 404."""
    found = _found(request, thing, who)
    if not studio_of(request).trash.restore(thing):
        raise _gone()
    audit(request, who, "trash.restore", thing, {"name": found.name})
    return found


def purge(request: Request, thing: str, who: Identity) -> None:
    """Deletes a thing for good. Raises Problem 403, 404."""
    found = _found(request, thing, who)
    studio_of(request).trash.purge(thing)
    audit(request, who, "trash.purge", thing, {"name": found.name})


def trash_rows(request: Request) -> list[dict[str, Any]]:
    """A row for each deleted thing."""
    studio = studio_of(request)
    names = {user.id: user.shown_name for user in all_users(studio.engine)}
    return [
        {
            "id": each.id,
            "kind": each.kind,
            "name": each.name,
            "user": names.get(each.created_by or ""),
            "trashed_at": each.trashed_at,
            "kept_until": each.trashed_at + KEPT_MS,
        }
        for each in studio.trash.items()
    ]


def _found(request: Request, thing: str, who: Identity) -> Trashed:
    found = studio_of(request).trash.find(thing)
    if found is None:
        raise _gone()
    require_owner(who, found.created_by)
    return found


def _gone() -> Problem:
    return Problem(404, "there is no such thing in the trash", hint="it may have been restored, or deleted for good")


@pages.post("/jobs/{job}/delete")
def delete_by_form(request: Request, job: str, who: Trainer) -> Response:
    """The button of the job's page."""
    delete(request, job, who)
    return RedirectResponse("/trash", status_code=303)


@pages.get("/trash")
def trash_page(request: Request, who: Reader) -> Response:
    """What was deleted."""
    own = {each.id for each in studio_of(request).trash.items() if each.created_by == who.user}
    return render(request, "trash.html", values={"rows": trash_rows(request), "own": own})


@pages.post("/trash/{thing}")
def trash_by_form(
    request: Request, thing: str, who: Annotator, action: Annotated[str, Form(pattern="^(restore|purge)$")]
) -> Response:
    """The buttons of the page."""
    if action == "purge":
        purge(request, thing, who)
        return RedirectResponse("/trash", status_code=303)
    restore(request, thing, who)
    return RedirectResponse(f"/{_PAGES[thing[:2]]}/{thing}", status_code=303)
