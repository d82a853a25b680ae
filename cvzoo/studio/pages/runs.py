"""The pages of runs: Home, the list, one run, and the comparison of several."""

import shlex
from typing import Annotated, Any

from fastapi import Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from cvzoo.studio.access.who import Reader, Trainer
from cvzoo.studio.api.about import About, about_of, describe
from cvzoo.studio.api.actions import possible_actions
from cvzoo.studio.api.compare import MAX_COMPARED, Compared, compared_runs, version_differences
from cvzoo.studio.api.found_run import FoundRun
from cvzoo.studio.api.jobs import matching, repetition_of
from cvzoo.studio.api.queue import queue_of
from cvzoo.studio.api.snapshots import snapshots_of
from cvzoo.studio.etag import etag_of
from cvzoo.studio.jobs.command_line import command_line
from cvzoo.studio.jobs.compare import differences
from cvzoo.studio.jobs.copies import has_snapshot
from cvzoo.studio.jobs.files import run_file, run_files, run_images, run_samples
from cvzoo.studio.jobs.job import MAX_NOTES, MAX_TAGS, Job
from cvzoo.studio.jobs.job_log import command_of, log_tail, sandbox_of
from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.studio.jobs.rows import Row, all_rows
from cvzoo.studio.jobs.run_record import CONFIG, DATA, METRICS, RunRecord
from cvzoo.studio.jobs.scores import score_table
from cvzoo.studio.jobs.spec import EvaluateSpec, ExportSpec, PredictSpec, ProposeSpec, TrainSpec
from cvzoo.studio.jobs.states import ENDED, LIVING
from cvzoo.studio.pages.evaluations import state_of
from cvzoo.studio.pages.render import may, render
from cvzoo.studio.pages.tour import Step, tour
from cvzoo.studio.problems import Problem, words_of
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import Studio, studio_of

router = page_router()
_PAGE = 100
_Text = Annotated[str, Form(max_length=2000)]
_N_ROW = 12
STATES = (
    *("draft", "queued", "starting", "running", "pausing", "stopping", "killing", "paused"),
    *("finished", "succeeded", "stopped", "failed", "killed", "unknown"),
)


@router.get("/")
def home(request: Request, _: Reader) -> Response:
    """What runs, what needs a decision, and what ended last."""
    studio = studio_of(request)
    records = studio.runs.records()

    def of(*states: str) -> list[RunRecord]:
        return [each for each in records if each.state in states]

    values = {
        "running": of("running", *LIVING),
        "waiting": of("queued", "paused", "draft"),
        "broken": of("failed", "killed")[:6],
        "recent": of("finished", "succeeded", "stopped")[:6],
        "n_run": len(records),
        "watch": [str(each) for each in studio.settings.watch],
        "steps": _tour(request, studio, records),
    }
    return render(request, "home.html", values=values)


@router.get("/jobs")
def jobs(
    request: Request,
    who: Reader,
    state: str = "",
    text: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """The queue and the list of runs."""
    runs = studio_of(request).runs
    records = runs.records()
    found = matching(records, state, text)
    values = {
        "queue": queue_of(request, who)[1],
        "held_by": studio_of(request).jobs.queue_held_by,
        "records": found[after : after + _PAGE],
        "total": len(found),
        "after": after,
        "next": after + _PAGE if after + _PAGE < len(found) else None,
        "state": state,
        "text": text,
        "counts": {each: sum(record.state == each for record in records) for each in STATES},
        "is_truncated": runs.is_truncated,
        "watch": [str(each) for each in studio_of(request).settings.watch],
    }
    return render(request, "jobs.html", values=values)


@router.get("/jobs/{job}")
def job_page(request: Request, run: FoundRun, _: Reader) -> Response:
    """One run, live; another job has a page of its own."""
    return _job(request, run, {}, 200)


@router.post("/jobs/{job}/about")
def describe_by_form(
    request: Request,
    run: FoundRun,
    who: Trainer,
    name: _Text = "",
    notes: Annotated[str, Form(max_length=3 * MAX_NOTES)] = "",
    tags: _Text = "",
    seen: _Text = "",
) -> Response:
    """The form of the job's page; tags have commas between them. seen: the mark of what the form began with"""
    typed = {"name": name.strip(), "tags": tags, "notes": notes.replace("\r\n", "\n"), "seen": seen}
    words = [each.strip() for each in tags.split(",") if each.strip()]
    try:
        describe(request, run.id, About(name=name or None, notes=typed["notes"], tags=words), who, seen=seen)
    except ValidationError:
        wrong = f"the name has at most 120 letters, the notes {MAX_NOTES}, and each of {MAX_TAGS} tags 40"
        return _job(request, run, {"about": typed, "about_error": wrong}, 422)
    except Problem as problem:
        theirs = problem.more.get("current")
        if theirs is None and problem.status_code != 422:
            raise
        typed["seen"] = seen if theirs is None else etag_of(theirs)
        more = {"about": typed, "theirs": theirs, "about_error": "" if theirs else words_of(problem)}
        return _job(request, run, more, problem.status_code)
    return RedirectResponse(f"/jobs/{run.id}", status_code=303)


def _job(request: Request, run: RunRecord, more: dict[str, Any], status: int) -> Response:
    studio = studio_of(request)
    job = studio.jobs.get(run.id)
    if job is not None and isinstance(job.spec, EvaluateSpec):
        return RedirectResponse(f"/evaluations/{job.id}", status_code=303)
    if job is not None and isinstance(job.spec, ExportSpec | PredictSpec | ProposeSpec):
        made, source = studio.models.find(job.id), studio.models.find(job.spec.source)
        files = run_files(run.folder) if isinstance(job.spec, PredictSpec) else []
        values = state_of(studio, job.id) | {"made": made, "source": source, "files": files}
        return render(request, "export.html", values=values)
    predictions = [name for _, name in run_samples(run.folder)]
    rows = _rows(run)
    values = _facts(studio, run, rows) | {
        "images": [name for name in run_images(run.folder) if name not in predictions],
        "predictions": predictions,
        **_snapshots(run, rows),
        "has_report": run_file(run.folder, "report.html") is not None,
        "settings": _settings(read_json_object(run.folder / CONFIG)),
        "about": None if job is None else {**about_of(job), "seen": etag_of(about_of(job))},
        "about_error": "",
        "theirs": None,
    }
    return render(request, "job.html", status_code=status, values=values | more)


@router.get("/jobs/{job}/facts")
def job_facts(request: Request, run: FoundRun, _: Reader) -> Response:
    """The part of the page that changes while a run is trained."""
    return render(request, "job_facts.html", values=_facts(studio_of(request), run, _rows(run)))


@router.get("/jobs/{job}/log")
def job_log(request: Request, run: FoundRun, _: Reader) -> Response:
    """The end of the output of a job's last attempt."""
    return render(request, "job_log.html", values=_facts(studio_of(request), run, _rows(run)))


@router.get("/jobs/{job}/tables")
def job_tables(request: Request, run: FoundRun, _: Reader) -> Response:
    """The scores by class, the last rows of the log, the snapshots, and the files."""
    rows = _rows(run)
    return render(request, "job_tables.html", values=_facts(studio_of(request), run, rows) | _snapshots(run, rows))


@router.get("/compare")
def compare(request: Request, _: Reader, job: Compared = None) -> Response:
    """Several runs: what differs, and their curves."""
    studio = studio_of(request)
    chosen = compared_runs(request, job)
    values: dict[str, Any] = {"records": chosen, "others": studio.runs.records(), "max": MAX_COMPARED}
    values["compared"] = [
        {"id": each.id, "name": each.name, "n_epoch": each.n_epoch, "n_iteration": each.n_iteration} for each in chosen
    ]
    values["differences"] = differences(chosen) if len(chosen) > 1 else None
    values["versions"] = version_differences(studio, chosen)
    return render(request, "compare.html", values=values)


def _tour(request: Request, studio: Studio, records: list[RunRecord]) -> list[Step]:
    """The tour, for users who can walk it, until they have; who only watches runs did not come for it."""
    if not may(request, "trainer") or (records and not studio.data.datasets.all()):
        return []
    steps = tour(studio)
    return [] if all(each.is_done for each in steps) else steps


def _rows(run: RunRecord) -> list[Row]:
    return all_rows(run.folder / METRICS)[0]


def _snapshots(run: RunRecord, rows: list[Row]) -> dict[str, Any]:
    found = snapshots_of(run, rows)
    keys = [run.best_key, "main/loss", "validation_loss/main/loss"]
    return {"snapshots": found, "snapshot_keys": [key for key in keys if any(key in each.scores for each in found)]}


def _facts(studio: Studio, run: RunRecord, rows: list[Row]) -> dict[str, Any]:
    job = studio.jobs.get(run.id)
    config = read_json_object(run.folder / CONFIG)
    shown = rows[-_N_ROW:]
    table = score_table(rows, read_json_object(run.folder / DATA), run.best_key, run.best_is)
    keys = ["epoch", "iteration", "elapsed_time", "main/loss", "validation_loss/main/loss", run.best_key]
    return {
        "run": run,
        "command": command_line(config, run.folder, absolute=job is not None)
        or ("" if job is None else command_of(job, run.folder)),
        "job": job,
        "actions": [] if job is None else possible_actions(job),
        "log": None if job is None else log_tail(run.folder, job.attempt),
        "sandbox": "" if job is None else sandbox_of(run.folder, job.attempt),
        "table": table,
        "rows": shown[::-1],
        "row_keys": [key for key in keys if key is not None and any(key in row for row in shown)],
        "files": run_files(run.folder),
        "has_model": run_file(run.folder, "best.safetensors") is not None,
        "resume": shlex.join(["cvzoo", "train", "--resume", str(run.folder)]),
        **_origin(studio, job),
        "is_longer": job is not None and job.state in ENDED and bool(run.n_epoch) and has_snapshot(run.folder),
        "has_ended": job is not None and job.state in ENDED,
    }


def _origin(studio: Studio, job: Job | None) -> dict[str, Any]:
    """Of a job that was made of another one: which, what differs, and whether a rerun has the same bits."""
    origin = None if job is None or job.parent is None else studio.jobs.get(job.parent)
    both = None if job is None or origin is None else (job.spec, origin.spec)
    differs = []
    if both is not None and isinstance(both[0], TrainSpec) and isinstance(both[1], TrainSpec):
        differs = both[0].differences(both[1])
    repetition = None if job is None else repetition_of(studio, job)
    return {"origin": origin, "origin_differs": differs, "repetition": repetition}


def _settings(config: dict[str, Any]) -> list[tuple[str, str]]:
    recipe = config.get("recipe")
    found: list[tuple[str, str]] = []

    def add(tree: dict[str, Any], prefix: str) -> None:
        for key, value in tree.items():
            if isinstance(value, dict):
                add(value, f"{prefix}{key}.")
            else:
                text = "none" if value is None else str(value)
                found.append((prefix + key, text if len(text) <= 200 else f"{text[:200]} ..."))

    if isinstance(recipe, dict):
        add(recipe, "")
    return found
