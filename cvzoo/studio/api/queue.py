"""The queue: the jobs that wait, and their order."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Header, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from cvzoo.studio.access.audit import record
from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.users import all_users
from cvzoo.studio.access.who import Reader, Trainer
from cvzoo.studio.jobs.queue import move, read_queue
from cvzoo.studio.state import studio_of

router = APIRouter(tags=["jobs"])


class NewPlace(BaseModel):
    """job: is moved; before: the job that it is to start before, null: it is to be the last one"""

    job: Annotated[str, Field(max_length=40)]
    before: Annotated[str | None, Field(max_length=40)] = None


@router.get("/queue")
def get_queue(request: Request, response: Response, who: Reader) -> dict[str, Any]:
    """The jobs that wait, in order; `lane` "long" are trainings, "short" all others, which do not wait for trainings.
    `earlier` and `later` are for :reorder, null if the user may not move the job so, "" for the end.
    """
    return _answer(request, response, who)


@router.post("/queue:reorder")
def reorder(
    request: Request,
    response: Response,
    body: NewPlace,
    who: Trainer,
    if_match: Annotated[str | None, Header(max_length=80)] = None,
) -> dict[str, Any]:
    """Moves a job in its lane. Trainers move their own, but not before one of another user that is ahead of it;
    administrators any. 409 if one of the jobs does not wait any more; 412 with If-Match of another order.
    """
    move_job(request, body.job, body.before, who, if_match)
    return _answer(request, response, who)


def move_job(request: Request, job: str, before: str | None, who: Identity, known: str | None = None) -> None:
    """Moves a job and records it in the audit. Raises Problem 403, 409, 412."""
    studio = studio_of(request)
    was, is_now = move(studio.engine, job, before, who, None if known is None else known.strip('"'))
    detail = {"before": before, "was": was, "is": is_now}
    address = request.client.host if request.client else ""
    record(studio.engine, studio.clock, user=who.user, address=address, action="queue.move", thing=job, detail=detail)


def queue_of(request: Request, who: Identity) -> tuple[str, list[dict[str, Any]]]:
    """(the etag, a row for each job that waits)."""
    studio = studio_of(request)
    queue = read_queue(studio.engine)
    names = {user.id: user.name for user in all_users(studio.engine)}
    rows = []
    for each in queue.waiting(who):
        job = each.job
        row = {"id": job.id, "name": job.name, "kind": job.spec.kind, "lane": each.lane, "position": each.position}
        row |= {"n": each.n, "user": names.get(job.created_by or ""), "queued_at": job.queued_at, "detail": job.detail}
        rows.append(row | {"earlier": each.earlier, "later": each.later})
    return queue.etag, rows


def _answer(request: Request, response: Response, who: Identity) -> dict[str, Any]:
    etag, rows = queue_of(request, who)
    response.headers["etag"] = f'"{etag}"'
    return {"items": rows}


pages = APIRouter(include_in_schema=False)


@pages.post("/jobs/{job}/place")
def move_by_form(
    request: Request, job: str, who: Trainer, before: Annotated[str, Form(max_length=40)] = ""
) -> Response:
    """The buttons of the queue, without scripts."""
    move_job(request, job, before or None, who)
    return RedirectResponse("/jobs#queue", status_code=303)
