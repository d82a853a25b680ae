"""Evaluations: the list, a new one, its scores, and what went wrong in each image."""

from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from cvzoo.studio.access.identity import Identity
from cvzoo.studio.access.who import Reader, Trainer
from cvzoo.studio.api.actions import new_job
from cvzoo.studio.api.models import digest_of, found_model, require_loadable
from cvzoo.studio.api.named_data import require_data
from cvzoo.studio.data.data_name import data_name
from cvzoo.studio.evaluations.difference import difference
from cvzoo.studio.evaluations.results import KINDS, Results, image_of, read_results, row_of
from cvzoo.studio.evaluations.validation_data import ValidationData, validation_data
from cvzoo.studio.ids import is_id
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.spec import EvaluateSpec
from cvzoo.studio.models.fits import why_no_evaluation
from cvzoo.studio.models.found import Model
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import api_router
from cvzoo.studio.state import studio_of

router = api_router("evaluations")


class NewEvaluation(BaseModel):
    """model: the key of a model; data, split: as of `cvzoo evaluate`; find_thresholds: the best ones of each class

    Without data, they are those on which the model's run was validated, and so is the split unless it is named.
    precision: those with the highest recall at this precision, instead of those with the best F1
    """

    model: Annotated[str, Field(max_length=200)]
    data: Annotated[str, Field(max_length=2000)] = ""
    split: Annotated[str, Field(max_length=40, pattern=r"^[\w.-]*$")] = ""
    find_thresholds: bool = False
    precision: Annotated[float, Field(gt=0, le=1)] | None = None


def found_evaluation(request: Request, job: str, _: Reader) -> Job:
    """The evaluation of a path. Raises Problem 401, 404."""
    found = studio_of(request).jobs.get(job) if is_id(job, "jb") else None
    if found is None or not isinstance(found.spec, EvaluateSpec):
        raise Problem(404, "there is no such evaluation")
    return found


FoundEvaluation: TypeAlias = Annotated[Job, Depends(found_evaluation)]


def results_of(request: Request, job: Job) -> Results:
    """The results of an evaluation. Raises Problem 409 if it has none."""
    found = read_results(studio_of(request).place.run(job.id))
    if found is None:
        raise Problem(409, f"the evaluation has no scores: it is {job.state}", hint=job.detail or None)
    return found


@router.get("/evaluations")
def list_evaluations(request: Request, _: Reader) -> dict[str, Any]:
    """All evaluations, the newest first, with their scores."""
    studio = studio_of(request)
    jobs = [job for job in studio.jobs.all() if isinstance(job.spec, EvaluateSpec)]
    return {"items": [_row(job, read_results(studio.place.run(job.id))) for job in jobs]}


@router.post("/evaluations", status_code=201)
def create_evaluation(request: Request, body: NewEvaluation, who: Trainer) -> dict[str, Any]:
    """A job of `cvzoo evaluate`."""
    return {"id": evaluate(request, body, who).id}


def evaluate(request: Request, body: NewEvaluation, who: Identity) -> Job:
    """Queues the evaluation. Raises Problem 403, 404, 409, 422."""
    found = found_model(request, body.model)
    require_loadable(found)
    data, split = _data_of(body, found)
    require_data(request, who, data)
    wrong = why_no_evaluation(found, data, split, find_thresholds=body.find_thresholds)
    if wrong:
        raise Problem(422, "the evaluation cannot be started with these values", fields=wrong)
    if body.precision is not None and not body.find_thresholds:
        raise Problem(422, "some values are invalid", fields={"precision": "is of thresholds that are found"})
    spec = EvaluateSpec(
        *(found.word, found.key, digest_of(found), data, split),
        find_thresholds=body.find_thresholds,
        precision=body.precision,
    )
    name = data_name(studio_of(request).engine, data)
    return new_job(request, f"{found.name} on {name}", spec, who)


def _data_of(body: NewEvaluation, found: Model) -> ValidationData:
    """The data and the split that are named, or those of the model's run. Raises Problem 422 if there are none."""
    if body.data.strip():
        return ValidationData(body.data.strip(), body.split)
    usual = validation_data("" if found.run is None else found.run.data)
    if not usual.data:
        words = "the data must be named, such as voc:FOLDER: the model is not of a run whose data are known"
        raise Problem(422, "some values are invalid", fields={"data": words})
    return ValidationData(usual.data, body.split or usual.split)


@router.get("/evaluations/{job}")
def get_evaluation(request: Request, found: FoundEvaluation, _: Reader) -> dict[str, Any]:
    """The scores and the analysis, exactly as `cvzoo evaluate --json` wrote them."""
    results = results_of(request, found)
    return {**_row(found, results), "scores": results.scores, "kinds": results.kinds}


@router.get("/evaluations/{job}/images")
def list_images(
    request: Request,
    found: FoundEvaluation,
    _: Reader,
    kind: Annotated[str, Query(max_length=20)] = "",
    label: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 24,
) -> dict[str, Any]:
    """Images with errors of a kind (missed, classification, localization, both, duplicate, background), worst first."""
    if kind and kind not in KINDS:
        raise Problem(422, "some values are invalid", fields={"kind": f"one of {', '.join(KINDS)}"})
    rows = results_of(request, found).matching(kind, label)
    end = min(after + limit, len(rows))
    items = [{key: value for key, value in row.items() if key != "path"} for row in rows[after:end]]
    return {"items": items, "next": end if end < len(rows) else None, "total": len(rows)}


@router.get("/evaluations/{job}/diff")
def get_difference(
    request: Request, found: FoundEvaluation, _: Reader, other: Annotated[str, Query(max_length=20)]
) -> dict[str, Any]:
    """What differs from the other evaluation to this one: scores, and images with fewer or more errors, such as
    without any ("fixed"). 409 if they are not of the same data and split.
    """
    first = other_evaluation(request, found, other)
    answer = difference(results_of(request, first), results_of(request, found))
    items = [each.to_json() for each in answer.images[:1000]]
    return {"scores": answer.scores, "counts": answer.counts, "items": items, "n": len(answer.images)}


def other_evaluation(request: Request, job: Job, other: str) -> Job:
    """The other evaluation of a comparison. Raises Problem 404, or 409 if it is of other data."""
    found = studio_of(request).jobs.get(other) if is_id(other, "jb") else None
    if found is None or not isinstance(found.spec, EvaluateSpec):
        raise Problem(404, "there is no such evaluation")
    if not has_same_data(found, job):
        raise Problem(409, "the evaluations are of different data, or of different splits")
    return found


def has_same_data(first: Job, second: Job) -> bool:
    """Whether two evaluations are of the same images."""
    specs = [each.spec for each in (first, second) if isinstance(each.spec, EvaluateSpec)]
    return len({(each.data, each.split) for each in specs}) == 1 and len(specs) == 2


@router.get("/evaluations/{job}/images/{index}")
def get_image(request: Request, found: FoundEvaluation, _: Reader, index: int) -> Response:
    """The bytes of an image with errors."""
    row = row_of(results_of(request, found), index)
    image = None if row is None else image_of(row)
    if image is None:
        raise Problem(404, "there is no such image", hint="its file may have been moved, or is none that browsers show")
    return Response(image[0], media_type=image[1], headers={"cache-control": "private, max-age=600"})


def _row(job: Job, results: Results | None) -> dict[str, Any]:
    assert isinstance(job.spec, EvaluateSpec)
    summary = {} if results is None else dict(results.summary)
    facts = {"id": job.id, "name": job.name, "state": job.state, "detail": job.detail, "created_at": job.created_at}
    return {**facts, "model": job.spec.source, "data": job.spec.data, "split": job.spec.split, "summary": summary}
