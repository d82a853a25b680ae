"""The pages of evaluations: the list, the form, and one evaluation."""

from typing import Annotated, Any

from fastapi import Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from cvzoo.reporting.score_meanings import MEANINGS
from cvzoo.studio.access.who import Reader, Trainer
from cvzoo.studio.api.actions import possible_actions
from cvzoo.studio.api.evaluations import (
    FoundEvaluation,
    NewEvaluation,
    evaluate,
    has_same_data,
    other_evaluation,
    results_of,
)
from cvzoo.studio.evaluations.corrections import place_of, version_of
from cvzoo.studio.evaluations.difference import difference
from cvzoo.studio.evaluations.plots import calibration_plot, confusion_table, pr_plot
from cvzoo.studio.evaluations.results import KINDS, Results, read_results, row_of
from cvzoo.studio.evaluations.validation_data import validation_data
from cvzoo.studio.jobs.files import run_files
from cvzoo.studio.jobs.job_log import command_of, log_tail, sandbox_of
from cvzoo.studio.jobs.spec import EvaluateSpec
from cvzoo.studio.jobs.states import LIVING
from cvzoo.studio.pages.render import render
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import Studio, studio_of

router = page_router()
_N_SHOWN = 60  # images of each change
_CHANGES = {
    "fixed": "Images without errors now",
    "broken": "Images with errors now only",
    "better": "Images with fewer errors",
    "worse": "Images with more errors",
}


@router.get("/evaluations")
def evaluations_page(request: Request, _: Reader, model: Annotated[str, Query(max_length=200)] = "") -> Response:
    """The list of evaluations, and the form of a new one. model: that the form begins with"""
    return _list(request, {"model": model}, {}, 200)


@router.post("/evaluations")
def evaluate_by_form(
    request: Request,
    who: Trainer,
    model: Annotated[str, Form(max_length=200)] = "",
    data: Annotated[str, Form(max_length=2000)] = "",
    split: Annotated[str, Form(max_length=40)] = "",
    find_thresholds: Annotated[bool, Form()] = False,
    precision: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    """Queues the evaluation, or shows what is wrong at each field."""
    given = {"model": model, "data": data, "split": split, "find_thresholds": find_thresholds, "precision": precision}
    try:
        body = NewEvaluation.model_validate(
            given | {"split": split.strip(), "precision": precision.strip() or None}  # pydantic reads the number
        )
        job = evaluate(request, body, who)
    except ValidationError as error:
        words = {"split": "letters, digits, points and dashes only", "precision": "above 0 and at most 1"}
        names = {str(each["loc"][0]) for each in error.errors()}
        return _list(request, given, {name: words.get(name, "too long") for name in names}, 422)
    except Problem as problem:
        wrong = problem.more.get("fields") or {"model": str(problem.detail)}
        return _list(request, given, wrong, problem.status_code)
    return RedirectResponse(f"/evaluations/{job.id}", status_code=303)


def _list(request: Request, given: dict[str, Any], wrong: dict[str, str], status: int) -> Response:
    studio = studio_of(request)
    jobs = [job for job in studio.jobs.all() if isinstance(job.spec, EvaluateSpec)]
    own = [each for each in studio.models.own() if each.is_loadable]
    members = [each for each in studio.models.zoo.members() if each["here"]]
    usual = {each.key: validation_data(each.run.data) for each in own if each.run is not None}
    if "data" not in given and given["model"] in usual:
        given = given | usual[given["model"]]._asdict()
    rows = [(job, _main_score(read_results(studio.place.run(job.id)))) for job in jobs]
    values = {"rows": rows, "own": own, "members": members, "usual": usual, "given": given, "wrong": wrong}
    values["meanings"] = MEANINGS
    return render(request, "evaluations.html", status_code=status, values=values)


def _main_score(results: Results | None) -> tuple[str, float] | None:
    if results is None or not results.summary:
        return None
    known = dict(results.summary)
    name = next((each for each in ("AP", "map", "accuracy", "miou") if each in known), results.summary[0][0])
    return name, known[name]


@router.get("/evaluations/{job}")
def evaluation_page(
    request: Request,
    found: FoundEvaluation,
    _: Reader,
    kind: Annotated[str, Query(max_length=20)] = "",
    label: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """One evaluation."""
    studio = studio_of(request)
    run = studio.place.run(found.id)
    results = read_results(run) if found.state == "succeeded" else None
    values: dict[str, Any] = {
        **state_of(studio, found.id),
        "model": studio.models.find(found.spec.source) if isinstance(found.spec, EvaluateSpec) else None,
        "results": results,
        "kinds": KINDS,
        "meanings": MEANINGS,
        "kind": kind if kind in KINDS else "",
        "label": label,
        "files": run_files(run),
        "version": version_of(studio, found),
        "others": [each for each in studio.jobs.all() if each.id != found.id and has_same_data(each, found)],
    }
    if results is not None:
        analysis = results.analysis
        values |= {
            "curves": pr_plot(analysis),
            "thresholds": results.thresholds,
            "wished": results.wished_precision,
            "confusion": confusion_table(analysis),
            "calibration": calibration_plot(analysis),
            "has_boxes": any("boxes" in row for row in results.verdicts),
            "labels": sorted({row["name"] for row in results.per_class[1] if isinstance(row.get("name"), str)}),
        }
    return render(request, "evaluation.html", values=values)


@router.get("/evaluations/{job}/diff")
def difference_page(
    request: Request, found: FoundEvaluation, _: Reader, other: Annotated[str, Query(max_length=20)]
) -> Response:
    """What differs from the other evaluation to this one."""
    first = other_evaluation(request, found, other)
    values = {
        "job": found,
        "first": first,
        "found": difference(results_of(request, first), results_of(request, found)),
        "is_version": version_of(studio_of(request), found) is not None,
        "kinds": KINDS,
        "meanings": MEANINGS,
        "changes": _CHANGES,
        "n_shown": _N_SHOWN,
    }
    return render(request, "evaluation_difference.html", values=values)


@router.get("/evaluations/{job}/images/{index}/correct")
def correct_labels(request: Request, found: FoundEvaluation, _: Reader, index: int) -> Response:
    """The editor with an image that has errors, and with what was predicted on it."""
    studio = studio_of(request)
    version = version_of(studio, found)
    row = row_of(results_of(request, found), index)
    place = None if version is None or row is None else place_of(studio, version, row)
    if place is None:
        raise Problem(404, "the image is not in a data set of the studio", hint="it may have been deleted from it")
    return RedirectResponse(
        f"/data/{place.dataset}/images/{place.ordinal}?evaluation={found.id}-{index}", status_code=303
    )


def state_of(studio: Studio, job_id: str) -> dict[str, Any]:
    """What the part of a page about a job's state needs."""
    job = studio.jobs.get(job_id)
    if job is None:
        raise Problem(404, "there is no such job")
    run = studio.place.run(job_id)
    return {
        "job": job,
        "is_living": job.state in (*LIVING, "queued"),
        "actions": possible_actions(job),
        "command": command_of(job, run),
        "log": log_tail(run, job.attempt),
        "sandbox": sandbox_of(run, job.attempt),
    }
