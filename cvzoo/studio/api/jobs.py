"""Runs: the list, one of them, its curves, events and files."""

import json
import os
import urllib.parse
from typing import Annotated, Any

from fastapi import Header, Query, Request
from fastapi.responses import FileResponse, Response, StreamingResponse

from cvzoo.studio.access.who import Reader, identity_of
from cvzoo.studio.api.found_run import FoundRun
from cvzoo.studio.events.stream import run_events
from cvzoo.studio.jobs.archive import archive
from cvzoo.studio.jobs.command_line import command_line
from cvzoo.studio.jobs.copies import comparison
from cvzoo.studio.jobs.curves import Offsets, parse_offsets, read_curves, usage_curves
from cvzoo.studio.jobs.files import media_type, run_file, run_files, run_images, run_samples
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.job_log import MAX_READ, read_log
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.log_search import find_in_log
from cvzoo.studio.jobs.run_record import CONFIG, RunRecord
from cvzoo.studio.problems import JSONText, Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import Studio, studio_of

router = api_router("jobs")
# of a report, which may come from a stranger: it runs in an origin of its own and reaches nothing
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; frame-ancestors 'self'; form-action 'none'; base-uri 'none'"
)


@router.get("/jobs")
def list_jobs(
    request: Request,
    _: Reader,
    state: str = "",
    text: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """A page of runs: running ones first, then those that changed last. after: `next` of the page before"""
    found = matching(studio_of(request).runs.records(), state, text)
    page = found[after : after + limit]
    end = after + len(page)
    items = ", ".join(each.json_text for each in page)
    more = json.dumps(end if end < len(found) else None)
    text = f'{{"items": [{items}], "next": {more}, "total": {len(found)}}}'
    return Response(text.encode("ascii"), media_type="application/json")


@router.get("/jobs/{job}")
def get_job(request: Request, response: Response, run: FoundRun, _: Reader) -> dict[str, Any]:
    """One run, with its command line and files, and of a job its `spec`; of a rerun, whether it has the same bits."""
    config = read_json_object(run.folder / CONFIG)
    files = [{"name": name, "bytes": size} for name, size in run_files(run.folder)]
    more: dict[str, Any] = {"command": command_line(config, run.folder), "files": files}
    more["images"] = run_images(run.folder)
    studio = studio_of(request)
    job = studio.jobs.get(run.id)
    if job is not None:
        response.headers["etag"] = f'"{job.rank}"'
        more |= {"spec": job.spec.to_json(), "notes": job.notes, "parent": job.parent, "relation": job.relation}
        more |= {"repetition": repetition_of(studio, job)}
        more["outcome"] = None if job.outcome is None else job.outcome.to_json()
    return {**run.to_json(), **more, "settings": config}


def repetition_of(studio: Studio, job: Job) -> dict[str, Any] | None:
    """Whether a rerun has the bits of its origin; None of other jobs, before the end, or if the origin is gone."""
    if job.relation != "rerun" or job.state != "succeeded" or job.parent is None:
        return None
    return comparison(studio.place.run(job.parent), studio.place.run(job.id)) or None


@router.get("/jobs/{job}/metrics")
def get_metrics(run: FoundRun, _: Reader, points: Annotated[int, Query(ge=10, le=20_000)] = 1500) -> Response:
    """The curves, each of at most `points` points, and `offsets`, from which events follow without a gap."""
    series, offsets = read_curves(run.folder, points)
    return JSONText({"series": series, "offsets": str(offsets)})


@router.get("/jobs/{job}/log")
def get_log(
    request: Request,
    run: FoundRun,
    _: Reader,
    offset: Annotated[int, Query(ge=0, le=2**62)] = 0,
    attempt: Annotated[int | None, Query(ge=1, le=2**31)] = None,
    size: Annotated[int, Query(ge=1, le=MAX_READ)] = MAX_READ,
    find: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> Response:
    """The output of an attempt, by default of the newest, from an offset on: `text`, of `size` bytes at most, and
    `next`, the offset of what follows; `newest` is the number of the newest attempt. Runs of watched folders have none.

    find: `lines` that contain this text in any case, with their `offset`, instead of `text`, `limit` at most; `next` is
    then the `offset` at which the search continues, as it ends after a second, too, and null at the end
    """
    job = studio_of(request).jobs.get(run.id)
    newest = 0 if job is None else job.attempt
    number = newest if attempt is None else attempt
    about = {"attempt": number, "newest": newest}
    if find:
        found = find_in_log(run.folder, number, find, offset, limit)
        lines = [{"offset": at, "text": line} for at, line in found.lines]
        return JSONText({"lines": lines, "next": found.next} | about)
    text, end, has_more = read_log(run.folder, number, offset, size) if number else ("", 0, False)
    return JSONText({"text": text, "next": end, "has_more": has_more} | about)


@router.get("/jobs/{job}/usage")
def get_usage(
    request: Request, run: FoundRun, _: Reader, points: Annotated[int, Query(ge=10, le=20_000)] = 1000
) -> Response:
    """What the processes of a job's last attempt used: CPU cores, bytes in RAM, bytes read and written per second."""
    job = studio_of(request).jobs.get(run.id)
    return JSONText({"series": [] if job is None else usage_curves(run.folder, job.attempt, points)})


@router.get("/jobs/{job}/events")
async def get_events(
    request: Request,
    run: FoundRun,
    _: Reader,
    offsets: Annotated[str, Query(max_length=60)] = "",
    last_event_id: Annotated[str | None, Header(max_length=60)] = None,
    once: bool = False,
) -> StreamingResponse:
    """Server-sent events `rows`, `state`, `reset` and `gone`, from the offsets or the browser's last event on.

    once: only those that there are now
    """
    start = parse_offsets(last_event_id or offsets) if last_event_id or offsets else Offsets()
    if start is None:
        raise Problem(400, "the offsets are malformed", expected="those of /metrics or of an event's id")

    async def is_signed_in() -> bool:
        return await identity_of(request) is not None

    events = run_events(studio_of(request), run, start, is_signed_in, once=once)
    return StreamingResponse(events, media_type="text/event-stream")


@router.get("/jobs/{job}/samples")
def get_samples(run: FoundRun, _: Reader) -> Response:
    """The images with predictions on the same validation images by epoch, `epoch` null of the newest ones, and the
    address of each.
    """
    path = f"/api/v1/jobs/{run.id}/files"
    items = [{"epoch": epoch, "name": name, "href": f"{path}/{name}"} for epoch, name in run_samples(run.folder)]
    return JSONText({"items": items})


@router.get("/jobs/{job}/archive")
def get_archive(run: FoundRun, _: Reader) -> StreamingResponse:
    """All files of /files as one tar file."""
    name = _folder_name(run)
    disposition = f"attachment; filename*=utf-8''{urllib.parse.quote(name)}.tar"
    return StreamingResponse(
        archive(run.folder, name), media_type="application/x-tar", headers={"content-disposition": disposition}
    )


@router.get("/jobs/{job}/files/{name:path}")
def get_file(run: FoundRun, _: Reader, name: str, download: bool = False) -> Response:
    """A file of the run; models, snapshots and JSON are attachments unless they are shown as text."""
    path = run_file(run.folder, name)
    if path is None:
        raise Problem(404, "the run has no such file")
    kind = media_type(name)
    headers = {}
    if kind.startswith("text/html"):
        headers["content-security-policy"] = REPORT_POLICY
    elif kind == "image/jpeg" and not _is_jpeg(path):
        raise Problem(404, "the file is no JPEG image")
    as_attachment = download or kind == "application/octet-stream"
    short = f"{_folder_name(run)}-{path.name}" if as_attachment else None
    return FileResponse(path, media_type=kind, headers=headers, filename=short)


def matching(records: list[RunRecord], state: str, text: str) -> list[RunRecord]:
    """The runs of this state ("": of any) that have each word of the text in name, recipe, data or tags."""
    words = text.casefold().split()
    return [
        each
        for each in records
        if (not state or each.state == state)
        and all(word in " ".join((each.name, each.recipe, each.data, *each.tags)).casefold() for word in words)
    ]


def _folder_name(run: RunRecord) -> str:
    return os.fsencode(run.folder.name).decode("utf-8", "replace")


def _is_jpeg(path: Any) -> bool:
    with open(path, "rb") as file:
        return file.read(3) == b"\xff\xd8\xff"
