"""The pages of models: the list, a model's card, and the job that makes another form of it."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from cvzoo.studio.access.who import Reader, Trainer
from cvzoo.studio.api.models import (
    FoundModel,
    NewExport,
    NewPredictions,
    export,
    found_model,
    predict_many,
    require_loadable,
)
from cvzoo.studio.jobs.spec import EvaluateSpec, ExportSpec, PredictionForm, PredictSpec
from cvzoo.studio.models.card import card_of
from cvzoo.studio.models.found import Model
from cvzoo.studio.pages.render import render
from cvzoo.studio.problems import Problem
from cvzoo.studio.state import studio_of

router = APIRouter(include_in_schema=False)
_IMAGES = ("images", "JPEGImages", "img")  # folders of a version's images, by layout
_ORIGINS = {"export": "exported", "thresholds": "with thresholds of classes"}


@router.get("/models")
def models_page(
    request: Request,
    _: Reader,
    task: Annotated[str, Query(max_length=40)] = "",
    text: Annotated[str, Query(max_length=200)] = "",
    here: bool = False,
) -> Response:
    """The best models of runs, what was made of them, and the zoo."""
    models = studio_of(request).models
    words = text.casefold().split()
    members = models.zoo.members()
    zoo = [
        each
        for each in members
        if (not task or each["task"] == task)
        and (each["here"] or not here)
        and all(word in f"{each['name']} {each['task']} {each['data']} {each['licence']}".casefold() for word in words)
    ]
    values = {
        "runs": [each for each in models.of_runs() if all(word in each.name.casefold() for word in words)],
        "made": [each for each in models.made() if all(word in each.name.casefold() for word in words)],
        "origins": _ORIGINS,
        "zoo": zoo,
        "n_member": len(members),
        "tasks": sorted({each["task"] for each in members}),
        "task": task,
        "text": text,
        "here": here,
    }
    return render(request, "models.html", values=values)


@router.get("/models/{model}")
def model_page(request: Request, found: FoundModel, _: Reader) -> Response:
    """A model's card."""
    return _page(request, found, {}, 200)


@router.get("/models/{model}/network")
def network_page(request: Request, found: FoundModel, _: Reader) -> Response:
    """The model's layers, their weights, and their outputs for an image."""
    require_loadable(found)
    return render(request, "network.html", values={"model": found, "has_data": bool(found.run and found.run.data)})


@router.post("/models/{model}/exports")
def export_by_form(
    request: Request,
    model: str,
    who: Trainer,
    form: Annotated[str, Form(pattern="^(onnx|int8)$")],
    images: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """The buttons of the card."""
    found = found_model(request, model)
    body = NewExport(form="int8" if form == "int8" else "onnx", images=[images.strip()] if images.strip() else [])
    try:
        job = export(request, found, body, who)
    except Problem as problem:
        fields = problem.more.get("fields", {"form": str(problem.detail)})
        return _page(request, found, fields | {"typed": images}, problem.status_code)
    return RedirectResponse(f"/jobs/{job.id}", status_code=303)


@router.post("/models/{model}/predictions")
def predict_by_form(
    request: Request,
    found: FoundModel,
    who: Trainer,
    predicted: Annotated[str, Form(max_length=2000)] = "",
    as_form: Annotated[str, Form(alias="form", pattern="^(jsonl|csv|coco)$")] = "jsonl",
) -> Response:
    """Queues predictions of a folder, or shows what is wrong."""
    form: PredictionForm = "coco" if as_form == "coco" else "csv" if as_form == "csv" else "jsonl"
    try:
        job = predict_many(request, found, NewPredictions(images=predicted, form=form), who)
    except Problem as problem:
        fields = problem.more.get("fields", {"predicted": str(problem.detail)})
        fields = {"predicted": fields.get("predicted") or fields["form"]}  # "form" is the export's on this page
        return _page(request, found, fields | {"typed_folder": predicted}, problem.status_code)
    return RedirectResponse(f"/jobs/{job.id}", status_code=303)


def _page(request: Request, found: Model, wrong: dict[str, str], status: int) -> Response:
    studio = studio_of(request)
    jobs = [
        job
        for job in studio.jobs.all()
        if isinstance(job.spec, EvaluateSpec | ExportSpec | PredictSpec) and job.spec.source == found.key
    ]
    versions = (studio.place.version(each.id) for each in studio.data.versions.ready())
    folders = [str(version / name) for version in versions for name in _IMAGES if (version / name).is_dir()]
    values = {"model": found, "card": card_of(found), "jobs": jobs, "wrong": wrong, "folders": folders}
    return render(request, "model.html", status_code=status, values=values)
