"""The queue: the jobs that wait, and their order."""

from typing import Annotated, Any, Literal

from fastapi import Form, Header, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.roles import includes
from cvzoo.studio.access.users import all_users
from cvzoo.studio.access.who import Administrator, Reader, Trainer
from cvzoo.studio.api.about import About, describe
from cvzoo.studio.api.datasets import audit
from cvzoo.studio.jobs.forecast import Forecast
from cvzoo.studio.jobs.queue import move, read_queue
from cvzoo.studio.routes import api_router, page_router
from cvzoo.studio.state import studio_of

router = api_router("jobs")


class NewPlace(BaseModel):
    """job: is moved; before: the job that it is to start before, null: it is to be the last one"""

    job: Annotated[str, Field(max_length=40)]
    before: Annotated[str | None, Field(max_length=40)] = None


@router.get("/queue")
def get_queue(request: Request, response: Response, who: Reader) -> dict[str, Any]:
    """The jobs that wait, in order; `lane` "long" are trainings, "short" all others, which do not wait for trainings.
    `earlier` and `later` are for :reorder, null if the user may not move the job so, "" for the end of its priority.
    `starts_in` are seconds by what such jobs took before, null if that is not known.
    """
    return _answer(request, response, who)


@router.post("/queue:hold")
def hold_queue(request: Request, response: Response, who: Administrator) -> dict[str, Any]:
    """Starts no job any more, until the queue is released; what runs is not stopped."""
    change_hold(request, who, is_held=True)
    return _answer(request, response, who)


@router.post("/queue:release")
def release_queue(request: Request, response: Response, who: Administrator) -> dict[str, Any]:
    """Starts jobs again."""
    change_hold(request, who, is_held=False)
    return _answer(request, response, who)


@router.post("/queue:reorder")
def reorder(
    request: Request,
    response: Response,
    body: NewPlace,
    who: Trainer,
    if_match: Annotated[str | None, Header(max_length=80)] = None,
) -> dict[str, Any]:
    """Moves a job among those of its lane and priority. Trainers move their own, but not before one of another user
    that is ahead of it; administrators any. 409 if one of the jobs does not wait any more; 412 with If-Match of another
    order.
    """
    move_job(request, body.job, body.before, who, if_match)
    return _answer(request, response, who)


def move_job(request: Request, job: str, before: str | None, who: Identity, known: str | None = None) -> None:
    """Moves a job and records it in the audit. Raises Problem 403, 409, 412."""
    studio = studio_of(request)
    was, is_now = move(studio.engine, job, before, who, None if known is None else known.strip('"'))
    audit(request, who, "queue.move", job, {"before": before, "was": was, "is": is_now})


def change_hold(request: Request, who: Identity, *, is_held: bool) -> None:
    """Holds or releases the whole queue, and records it in the audit."""
    studio_of(request).jobs.hold_queue(who.name if is_held else None)
    audit(request, who, "queue.hold" if is_held else "queue.release", "queue", {})


def queue_of(request: Request, who: Identity) -> tuple[str, list[dict[str, Any]]]:
    """(the etag, a row for each job that waits)."""
    studio = studio_of(request)
    queue = read_queue(studio.engine)
    names = {user.id: user.shown_name for user in all_users(studio.engine)}
    forecast = Forecast(studio.jobs, studio.runs, studio.place, studio.clock()) if queue.jobs else None
    is_held = studio.jobs.queue_held_by is not None
    starts: dict[str, float | None] = {}
    if forecast is not None and not is_held:
        for lane in ("long", "short"):
            starts |= forecast.starts_of(lane, queue.lane(lane))
    rows = []
    for each in queue.waiting(who):
        job = each.job
        row = {"id": job.id, "name": job.name, "kind": job.spec.kind, "lane": each.lane, "position": each.position}
        row |= {"n": each.n, "user": names.get(job.created_by or ""), "queued_at": job.queued_at, "detail": job.detail}
        row |= {"priority": job.priority, "is_held": job.is_held, "starts_in": starts.get(job.id)}
        row["may_change"] = includes(who.role, "administrator") or job.created_by == who.user
        rows.append(row | {"earlier": each.earlier, "later": each.later})
    return queue.etag, rows


def _answer(request: Request, response: Response, who: Identity) -> dict[str, Any]:
    etag, rows = queue_of(request, who)
    response.headers["etag"] = f'"{etag}"'
    return {"items": rows, "held_by": studio_of(request).jobs.queue_held_by}


pages = page_router()


@pages.get("/queue")
def queue_page(_: Reader) -> Response:
    """Where the queue is shown."""
    return RedirectResponse("/jobs#queue", status_code=303)


@pages.post("/jobs/{job}/place")
def move_by_form(
    request: Request, job: str, who: Trainer, before: Annotated[str, Form(max_length=40)] = ""
) -> Response:
    """The buttons of the queue, without scripts."""
    move_job(request, job, before or None, who)
    return RedirectResponse("/jobs#queue", status_code=303)


@pages.post("/queue/{action}")
def hold_by_form(request: Request, action: Literal["hold", "release"], who: Administrator) -> Response:
    """The buttons of the queue for all of it."""
    change_hold(request, who, is_held=action == "hold")
    return RedirectResponse("/jobs#queue", status_code=303)


@pages.post("/jobs/{job}/priority")
def priority_by_form(request: Request, job: str, who: Trainer, priority: Annotated[int, Form(ge=0, le=9)]) -> Response:
    """The priority in the queue, without scripts."""
    describe(request, job, About(priority=priority), who)
    return RedirectResponse("/jobs#queue", status_code=303)
