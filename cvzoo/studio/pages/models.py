"""The pages of models: the list, a model's card, and the job that makes another form of it."""

from typing import Annotated

from fastapi import Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from cvzoo.studio.access.who import Reader, Trainer
from cvzoo.studio.api.datasets import MAX_NOTES
from cvzoo.studio.api.models import (
    FoundModel,
    NewExport,
    NewPredictions,
    Notes,
    change_notes,
    export,
    found_model,
    name_model,
    predict_many,
    remove_alias,
    require_loadable,
    trash_model,
)
from cvzoo.studio.api.verify_model import verify_model
from cvzoo.studio.api.zoo import fetch_member
from cvzoo.studio.etag import etag_of
from cvzoo.studio.jobs.spec import EvaluateSpec, ExportSpec, PredictionForm, PredictSpec
from cvzoo.studio.models.card import card_of
from cvzoo.studio.models.found import Model
from cvzoo.studio.models.lineage import lineage_of
from cvzoo.studio.pages.render import render
from cvzoo.studio.problems import Problem
from cvzoo.studio.routes import page_router
from cvzoo.studio.state import studio_of

router = page_router()
_IMAGES = ("images", "JPEGImages", "img")  # folders of a version's images, by layout
_ORIGINS = {"export": "exported", "thresholds": "with thresholds of classes", "upload": "uploaded"}


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
        "uploaded": [each for each in models.uploaded() if all(word in each.name.casefold() for word in words)],
        "aliases": models.register.aliases(),
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


@router.post("/models/{model}/about")
def about_by_form(
    request: Request,
    found: FoundModel,
    who: Trainer,
    alias: Annotated[str, Form(max_length=100)] = "",
    removed: Annotated[str, Form(max_length=100)] = "",
    notes: Annotated[str | None, Form(max_length=3 * MAX_NOTES)] = None,
    seen: Annotated[str, Form(max_length=80)] = "",
) -> Response:
    """Gives the model an alias, takes one, or changes its notes. seen: the mark of those that the form began with"""
    typed = {} if notes is None else {"typed_notes": notes.replace("\r\n", "\n"), "seen": seen}
    try:
        if alias.strip():
            name_model(request, found, alias.strip().lower(), who)
        elif removed:
            remove_alias(request, found, removed, who)
        elif notes is not None:
            change_notes(request, found, Notes(notes=typed["typed_notes"]), who, seen)
    except ValidationError:
        return _page(request, found, {"notes": f"at most {MAX_NOTES} letters", **typed}, 422)
    except Problem as problem:
        if "current" in problem.more:
            theirs = problem.more["current"]
            return _page(request, found, typed | {"seen": etag_of(theirs)}, problem.status_code, theirs)
        return _page(request, found, problem.more.get("fields", {"alias": str(problem.detail)}), problem.status_code)
    return RedirectResponse(f"/models/{found.key}", status_code=303)


@router.post("/models/{model}/verify")
def verify_by_form(request: Request, found: FoundModel, who: Trainer) -> Response:
    """Verifies the model, which the card then tells."""
    verify_model(request, found, who)
    return RedirectResponse(f"/models/{found.key}#h-verified", status_code=303)


@router.post("/models/{model}/fetch")
def fetch_by_form(request: Request, found: FoundModel, who: Trainer) -> Response:
    """Downloads the weights of a model of the zoo, whose card says how far that is, or why it is not possible."""
    try:
        fetch_member(request, found, who)
    except Problem as problem:
        return _page(request, found, {"fetch": str(problem.detail)}, problem.status_code)
    return RedirectResponse(f"/models/{found.key}", status_code=303)


@router.post("/models/{model}/delete")
def delete_by_form(request: Request, found: FoundModel, who: Trainer) -> Response:
    """Moves an uploaded model to the trash."""
    trash_model(request, found, who)
    return RedirectResponse("/trash", status_code=303)


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


def _page(
    request: Request, found: Model, wrong: dict[str, str], status: int, theirs: dict[str, str] | None = None
) -> Response:
    studio = studio_of(request)
    jobs = [
        job
        for job in studio.jobs.all()
        if isinstance(job.spec, EvaluateSpec | ExportSpec | PredictSpec) and job.spec.source == found.key
    ]
    versions = (studio.place.version(each.id) for each in studio.data.versions.ready())
    folders = [str(version / name) for version in versions for name in _IMAGES if (version / name).is_dir()]
    register = studio.models.register
    values = {"model": found, "card": card_of(found), "jobs": jobs, "wrong": wrong, "folders": folders}
    notes = register.notes(found.key)
    values |= {"lineage": lineage_of(found, studio.data), "notes": notes, "max_notes": MAX_NOTES}
    values |= {"seen": etag_of({"notes": notes}), "theirs": theirs}
    values["fetch"] = None if found.member is None else studio.fetches.get(found.word)
    values["verified"] = studio.verifications.get(found.key)
    values["aliases"] = [alias for alias, key in register.aliases().items() if key == found.key]
    return render(request, "model.html", status_code=status, values=values)
